package rule

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"roomgate/agent/printable"
)

const (
	// LongestCondition bounds the source of a condition, in bytes.
	LongestCondition = 1000
	// maxNodes bounds what it is made of.
	maxNodes = 250
	// memoryBudget bounds the values that it makes, as the library counts them.
	memoryBudget = 10_000
)

// Condition is a compiled one. It may be asked by several at once.
type Condition struct {
	source  string
	program *vm.Program // nil: always true
	root    ast.Node
	// NeedsClock says that it speaks of the time, or of what depends on it.
	NeedsClock bool
	speaks     []string // of which names, as light
}

// Compile checks and compiles a condition. The error is a [Problem] of the
// field "condition" that names the place, counted in characters from 1, and
// the nearest known name.
func Compile(source string) (c *Condition, err error) {
	defer func() {
		if p := recover(); p != nil { // a fault of the library must end no building
			c, err = nil, wrong("condition", "cannot be compiled: write it in another way")
		}
	}()
	if strings.TrimSpace(source) == "" {
		return &Condition{}, nil
	}
	if len(source) > LongestCondition {
		return nil, wrong("condition", "is longer than %d bytes: make two rules of it", LongestCondition)
	}
	if !utf8.ValidString(source) || strings.ContainsRune(source, 0) {
		return nil, wrong("condition", "is not a text in UTF-8")
	}
	tree, err := parser.ParseWithConfig(source, parseConfig())
	if err != nil {
		return nil, syntax(err)
	}
	k := checker{seen: map[ast.Node]bool{}}
	if k.visit(tree.Node); k.err != nil {
		return nil, k.err
	}
	program, err := compile(source)
	if err != nil {
		return nil, syntax(err)
	}
	return &Condition{source: source, program: program, root: tree.Node, NeedsClock: k.clock, speaks: k.speaks}, nil
}

// Reads says whether the condition speaks of a name, as light, be it that something is missing there.
func (c *Condition) Reads(name string) bool { return slices.Contains(c.speaks, name) }

// parseConfig knows the few functions that there are.
func parseConfig() *conf.Config {
	c := conf.CreateNew()
	for name := range c.Builtins {
		if !slices.Contains(functions, name) {
			c.Disabled[name] = true
			delete(c.Builtins, name)
		}
	}
	c.MaxNodes = maxNodes
	return c
}

// compile wants true or false, and nothing that is not in Env.
func compile(source string) (*vm.Program, error) {
	options := []expr.Option{expr.Env(Env{}), expr.AsBool(), expr.MaxNodes(maxNodes), expr.DisableAllBuiltins()}
	for _, f := range functions {
		options = append(options, expr.EnableBuiltin(f))
	}
	return expr.Compile(source, options...)
}

// syntax words what the library finds wrong.
func syntax(err error) error {
	var at *file.Error
	if !errors.As(err, &at) {
		return wrong("condition", "is wrong: %s", firstLine(err))
	}
	message := strings.ToLower(at.Message[:min(1, len(at.Message))]) + at.Message[min(1, len(at.Message)):]
	if strings.Contains(message, "exceeds maximum allowed nodes") {
		return wrong("condition", "is too long: make two rules of it")
	}
	return wrong("condition", "is wrong at character %d: %s", place(at.Location), firstLine(errors.New(message)))
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return printable.Cut(line, 200, "...")
}

var machines = sync.Pool{New: func() any { return &vm.VM{MemoryBudget: memoryBudget} }}

// Holds says whether the condition is true. An error is about the values of
// this moment, as a detail that is missing.
func (c *Condition) Holds(e *Env) (bool, error) {
	if c.program == nil {
		return true, nil
	}
	out, err := run(c.program, e)
	if err != nil {
		return false, err
	}
	held, ok := out.(bool)
	if !ok {
		return false, fmt.Errorf("the condition is %T and not true or false", out)
	}
	return held, nil
}

func run(p *vm.Program, e *Env) (any, error) {
	m := machines.Get().(*vm.VM)
	out, err := m.Run(p, e)
	clear(m.Stack)
	machines.Put(m)
	if err != nil {
		return nil, errors.New(firstLine(err))
	}
	return out, nil
}
