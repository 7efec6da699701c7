package rule

import (
	"math"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
)

// Explanation says of a condition, or of an operand of it, whether it holds
// and by which values.
type Explanation struct {
	Expression string         `json:"expression"`
	Held       bool           `json:"held"`
	Error      string         `json:"error,omitempty"`    // why it is not known
	Values     map[string]any `json:"values,omitempty"`   // of the names in it; null: not known
	Operator   string         `json:"operator,omitempty"` // "and", "or" or "not": how Operands are joined
	Operands   []Explanation  `json:"operands,omitempty"`
}

// Explain evaluates a condition piece by piece: every operand of its and, or
// and not, also those that did not matter.
func (c *Condition) Explain(e *Env) Explanation {
	if c.program == nil {
		return Explanation{Expression: "true", Held: true}
	}
	x := explain(c.root, e)
	x.Expression = c.source
	return x
}

func explain(n ast.Node, e *Env) Explanation {
	x := Explanation{Expression: n.String()}
	held, err := evaluate(x.Expression, e)
	x.Held = held
	if err != nil {
		x.Error = err.Error()
	}
	if operator, operands := joined(n); operator != "" {
		x.Operator = operator
		for _, o := range operands {
			x.Operands = append(x.Operands, explain(o, e))
		}
		return x
	}
	x.Values = values(n, e)
	return x
}

// joined are the operands of and, or and not; a and b and c has three.
func joined(n ast.Node) (operator string, operands []ast.Node) {
	switch n := n.(type) {
	case *ast.UnaryNode:
		if n.Operator == "not" || n.Operator == "!" {
			return "not", []ast.Node{n.Node}
		}
	case *ast.BinaryNode:
		name := plain(n.Operator)
		if name == "" {
			return "", nil
		}
		for _, side := range []ast.Node{n.Left, n.Right} {
			if b, ok := side.(*ast.BinaryNode); ok && plain(b.Operator) == name {
				_, more := joined(b)
				operands = append(operands, more...)
				continue
			}
			operands = append(operands, side)
		}
		return name, operands
	}
	return "", nil
}

func plain(operator string) string {
	switch operator {
	case "and", "&&":
		return "and"
	case "or", "||":
		return "or"
	}
	return ""
}

func evaluate(source string, e *Env) (bool, error) {
	p, err := compile(source)
	if err != nil {
		return false, syntax(err)
	}
	return (&Condition{program: p}).Holds(e)
}

// values are what the names in a node stand for.
func values(n ast.Node, e *Env) map[string]any {
	k := checker{seen: map[ast.Node]bool{}}
	k.visit(n)
	out := map[string]any{}
	for _, name := range k.reads {
		out[name] = lookUp(name, e)
	}
	return out
}

// lookUp returns what JSON can say of a value.
func lookUp(name string, e *Env) any {
	p, err := expr.Compile(name, expr.Env(Env{}), expr.MaxNodes(maxNodes), expr.DisableAllBuiltins())
	if err != nil {
		return nil
	}
	v, err := run(p, e)
	if f, ok := v.(float64); err != nil || ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		return nil
	}
	return v
}
