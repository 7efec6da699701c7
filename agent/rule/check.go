package rule

import (
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// functions are those of one value that conditions may call.
var functions = []string{"abs", "ceil", "float", "floor", "int", "len", "lower", "round", "string", "trim", "upper"}

// operators are those that conditions may use.
var operators = []string{"and", "&&", "or", "||", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "??",
	"in", "contains", "startsWith", "endsWith"}

// checker walks over a parsed condition before anybody else does. It visits
// each node once.
type checker struct {
	seen   map[ast.Node]bool
	clock  bool     // something needs a trusted clock
	reads  []string // the names, as they are written
	speaks []string // the first of each
	err    error
}

// refuse keeps the first problem.
func (c *checker) refuse(n ast.Node, format string, args ...any) {
	if c.err == nil {
		all := append([]any{place(n.Location())}, args...)
		c.err = wrong("condition", "is wrong at character %d: "+format, all...)
	}
}

// leaf says whether a node may be there twice, as x is in 1 < x < 2.
func leaf(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.StringNode, *ast.NilNode, *ast.IdentifierNode:
		return true
	case *ast.MemberNode:
		return leaf(n.Node) && leaf(n.Property)
	}
	return false
}

func (c *checker) visit(n ast.Node) {
	if c.err != nil || n == nil {
		return
	}
	if c.seen[n] {
		if !leaf(n) {
			c.refuse(n, "the middle of a double comparison has to be a name or a number: write two comparisons")
		}
		return
	}
	c.seen[n] = true
	switch n := n.(type) {
	case *ast.NilNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.StringNode:
	case *ast.IdentifierNode:
		c.identifier(n)
	case *ast.MemberNode:
		c.member(n)
	case *ast.ChainNode:
		c.visit(n.Node)
	case *ast.UnaryNode:
		c.visit(n.Node)
	case *ast.BinaryNode:
		c.binary(n)
	case *ast.ConditionalNode:
		c.conditional(n)
	case *ast.ArrayNode:
		for _, e := range n.Nodes {
			c.visit(e)
		}
	case *ast.BuiltinNode:
		c.call(n, n.Name, n.Arguments)
	case *ast.CallNode:
		c.unknownCall(n)
	default:
		c.refuse(n, "this is not part of conditions: they compare values and join them with and, or, not")
	}
}

func (c *checker) identifier(n *ast.IdentifierNode) {
	if _, known := names[n.Value]; !known {
		c.refuse(n, "%s is not known%s", clipName(n.Value), hint(n.Value, sorted(names)))
		return
	}
	c.refuse(n, "%s is no value by itself: want one of its fields %s", n.Value, strings.Join(names[n.Value], ", "))
}

// member is name.field, or event.details.anything.
func (c *checker) member(n *ast.MemberNode) {
	path, ok := memberPath(n)
	if !ok {
		c.refuse(n, "only names can be followed by a field")
		return
	}
	fields, known := names[path[0]]
	switch {
	case !known:
		c.refuse(root(n), "%s is not known%s", clipName(path[0]), hint(path[0], sorted(names)))
	case !slices.Contains(fields, path[1]):
		c.refuse(n, "%s has no %s%s", path[0], clipName(path[1]), hint(path[1], fields))
	case len(path) > 2 && (path[0] != "event" || path[1] != "details"):
		c.refuse(n, "%s.%s has no fields", path[0], path[1])
	case len(path) == 2 && path[0] == "event" && path[1] == "details":
		c.refuse(n, "event.details is no value by itself: want one of its fields, as event.details.state")
	case len(path) > 4:
		c.refuse(n, "the details of an event are not that deep")
	}
	c.clock = c.clock || clocked(path[0], path[1])
	c.reads = append(c.reads, n.String())
	c.speaks = append(c.speaks, path[0])
}

// memberPath is ["light", "value"] for light.value.
func memberPath(n ast.Node) ([]string, bool) {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return []string{n.Value}, true
	case *ast.ChainNode:
		return memberPath(n.Node)
	case *ast.MemberNode:
		property, ok := n.Property.(*ast.StringNode)
		if !ok || n.Method {
			return nil, false
		}
		path, ok := memberPath(n.Node)
		return append(path, property.Value), ok
	}
	return nil, false
}

// root is where a path begins.
func root(n ast.Node) ast.Node {
	for {
		switch inner := n.(type) {
		case *ast.MemberNode:
			n = inner.Node
		case *ast.ChainNode:
			n = inner.Node
		default:
			return n
		}
	}
}

func (c *checker) binary(n *ast.BinaryNode) {
	if !slices.Contains(operators, n.Operator) {
		c.refuse(n, "the operator %s is not part of conditions: want one of %s", n.Operator, strings.Join(operators, " "))
		return
	}
	if n.Operator == "in" {
		if _, ok := n.Right.(*ast.ArrayNode); !ok {
			c.refuse(n, `in wants a list, as ["on", "off"]`)
			return
		}
	}
	c.visit(n.Left)
	c.visit(n.Right)
	if n.Operator == "==" || n.Operator == "!=" || n.Operator == "in" {
		c.compare(n.Left, n.Right)
		c.compare(n.Right, n.Left)
	}
}

// compare refuses a text that the field can never be.
func (c *checker) compare(field, with ast.Node) {
	path, ok := memberPath(field)
	if !ok || len(path) != 2 {
		return
	}
	known := words[path[0]+"."+path[1]]
	all := []ast.Node{with}
	if list, ok := with.(*ast.ArrayNode); ok {
		all = list.Nodes
	}
	for _, n := range all {
		if s, ok := n.(*ast.StringNode); ok && known != nil && s.Value != "" && !slices.Contains(known, s.Value) {
			c.refuse(n, "%s.%s is never %s%s", path[0], path[1], strconv.Quote(clipName(s.Value)), hint(s.Value, known))
		}
	}
}

func (c *checker) conditional(n *ast.ConditionalNode) {
	if n.Cond == n.Exp1 {
		c.refuse(n, "?: is not part of conditions: write all three parts")
		return
	}
	c.visit(n.Cond)
	c.visit(n.Exp1)
	c.visit(n.Exp2)
}

func (c *checker) call(n ast.Node, name string, arguments []ast.Node) {
	if !slices.Contains(functions, name) {
		c.refuse(n, "the function %s is not part of conditions%s", clipName(name), hint(name, functions))
		return
	}
	for _, a := range arguments {
		c.visit(a)
	}
}

func (c *checker) unknownCall(n *ast.CallNode) {
	if name, ok := n.Callee.(*ast.IdentifierNode); ok {
		c.call(n, name.Value, nil)
		return
	}
	c.refuse(n, "only functions can be called: want one of %s", strings.Join(functions, ", "))
}

func clipName(s string) string {
	if len(s) > 40 {
		return strconv.QuoteToASCII(s[:40]) + "..."
	}
	return s
}
