package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// untouched are test files that stay as they are, since they hold what earlier
// releases have promised.
var untouched = []string{root + "/agent/api/upgrade_test.go"}

// TestHouseSaysWhichIsWrong: a test that joins conditions by OR says that one of
// them was not met, and not which one.
func TestHouseSaysWhichIsWrong(t *testing.T) {
	t.Parallel()
	const most = 4
	for path, source := range sources(t) {
		if !strings.HasSuffix(path, "_test.go") || slices.Contains(untouched, path) || bytes.Count(source, []byte("||")) < most {
			continue
		}
		for _, at := range joined(t, path, source, most) {
			t.Errorf("%s: more than %d conditions joined by ||: compare the values by name (goldentest.Values), or ask apart", at, most)
		}
	}
}

// joined returns where a file asks in one if for more than most conditions by OR.
func joined(t *testing.T, path string, source []byte, most int) (found []string) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, source, parser.SkipObjectResolution)
	if err != nil {
		t.Errorf("%s: %v", path, err)
		return nil
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if asks, ok := n.(*ast.IfStmt); ok {
			ast.Inspect(asks.Cond, func(n ast.Node) bool {
				e, ok := n.(*ast.BinaryExpr)
				if !ok || e.Op != token.LOR {
					return true
				}
				if conditions(e) > most {
					found = append(found, files.Position(asks.Pos()).String())
				}
				return conditions(e) <= most
			})
		}
		return true
	})
	return found
}

// conditions counts what an expression joins by OR.
func conditions(e ast.Expr) int {
	e = ast.Unparen(e)
	if or, ok := e.(*ast.BinaryExpr); ok && or.Op == token.LOR {
		return conditions(or.X) + conditions(or.Y)
	}
	return 1
}

// TestJoinedIsFound proves that the check above can fail.
func TestJoinedIsFound(t *testing.T) {
	for condition, want := range map[string]int{
		"a || b || c || d":             0,
		"a || b || c || d || e":        1,
		"a || (b || (c || d)) || e":    1,
		"a && b || c || d || e":        0,
		"x && (a || b || c || d || e)": 1,
	} {
		source := "package x\n\nfunc f() {\n\tif " + condition + " {\n\t}\n}\n"
		if found := joined(t, "x_test.go", []byte(source), 4); len(found) != want {
			t.Errorf("%s: found %q, want %d", condition, found, want)
		}
	}
}
