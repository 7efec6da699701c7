// Package rule is what a building does by itself: a trigger, a condition and
// actions. It reads no clock, touches no disk and gives no commands: it checks
// rules, compiles their conditions, says whether they hold and why, and which
// minutes are theirs.
//
// A condition is an expression over a typed environment, [Env]. It has names,
// literals, comparisons, arithmetic, and, or, not, in, contains, startsWith,
// endsWith, a choice (a ? b : c) and a few functions of one value. It must be
// true or false; empty is always true.
//
// # Why
//
// The language is expr-lang/expr with everything taken out that can repeat or
// grow. The library bounds nodes and memory and has no bound on time
// (expr-lang/expr#975): nested predicates multiply, a pattern may be huge, and
// its parser shares the node in the middle of 1 < x < 2, and of a ?: b, so that
// nesting those doubles the work with each level before anything runs. So a
// condition is parsed, and refused unless every node is of a known kind, small
// and there once; only then is it checked and compiled. What is left runs each
// node at most once: its time is bounded by its length.
package rule
