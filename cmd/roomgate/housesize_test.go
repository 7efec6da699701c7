package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
	"testing"
)

// A type that holds more is two nouns, a package that holds more two rooms.
const (
	mostMethods = 50
	mostFields  = 20
	mostLines   = 3500
)

// allowance lets a type or a package hold more than the others.
type allowance struct {
	most int // 0: any number
	why  string
}

// slack is how far the lines of a package may fall before its allowance has to.
const slack = 100

// joins is why the agent is allowed less than others.
const joins = "it joins the nouns and has none of its own: what is new is a noun below it"

// allowances are the exceptions by "folder.Type: methods", "folder.Type: fields"
// and "folder: lines". A number may fall and never rise.
var allowances = map[string]allowance{
	"agent.Agent: methods":            {10, joins},
	"agent/api: lines":                {0, "one door, a file for each noun"},
	"cmd/roomgate: lines":             {0, "one program, a file for each command"},
	"agent/site.MeetingSpace: fields": {33, "the platform's table of a meeting space"},
	"agent/config.Space: fields":      {32, "the same table, as it is configured"},
	"agent/api.spaceRecord: fields":   {28, "the same table, as V1.0 writes it"},
}

// TestSizes keeps every type and package at one noun.
func TestSizes(t *testing.T) {
	t.Parallel()
	figures := measure(t, sources(t))
	for name, n := range figures {
		if problem := oversize(name, n); problem != "" {
			t.Error(problem)
		}
	}
	for name, a := range allowances {
		if n := figures[name]; n < a.most && (!strings.HasSuffix(name, "lines") || n < a.most-slack) {
			t.Errorf("%s: %d today: lower its allowance of %d, so that it cannot grow back", name, n, a.most)
		}
	}
}

// oversize says what is wrong with a figure of measure, or "".
func oversize(name string, n int) string {
	most := map[string]int{"methods": mostMethods, "fields": mostFields, "lines": mostLines}[name[strings.LastIndex(name, " ")+1:]]
	a, ok := allowances[name]
	if ok {
		most = a.most
	}
	if n <= most || ok && a.most == 0 {
		return ""
	}
	return fmt.Sprintf("%s: %d, more than %d: it holds two nouns", name, n, most)
}

// measure counts the methods and fields of every type and the lines of every
// package, without tests, by the names of allowances.
func measure(t *testing.T, files map[string][]byte) map[string]int {
	t.Helper()
	figures := map[string]int{}
	for at, source := range files {
		if strings.HasSuffix(at, "_test.go") || generated.Match(source) {
			continue
		}
		folder := strings.TrimPrefix(path.Dir(at), root+"/")
		figures[folder+": lines"] += bytes.Count(source, []byte("\n"))
		file, err := parser.ParseFile(token.NewFileSet(), at, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv != nil {
					figures[folder+"."+receiverOf(n.Recv.List[0].Type)+": methods"]++
				}
				return false // types inside a function belong to it
			case *ast.TypeSpec:
				if s, ok := n.Type.(*ast.StructType); ok {
					figures[folder+"."+n.Name.Name+": fields"] = fieldsOf(s)
				}
			}
			return true
		})
	}
	return figures
}

// receiverOf names the type of a method, without pointer and type parameters.
func receiverOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiverOf(e.X)
	case *ast.IndexExpr:
		return receiverOf(e.X)
	case *ast.IndexListExpr:
		return receiverOf(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}

// fieldsOf counts an embedded type as one field.
func fieldsOf(s *ast.StructType) (n int) {
	for _, f := range s.Fields.List {
		n += max(1, len(f.Names))
	}
	return n
}

// TestSizesBite proves that the check above can fail.
func TestSizesBite(t *testing.T) {
	source := "package x\n\ntype T[K any] struct {\n\ta, b int\n\tstring\n}\n\nfunc (*T[K]) m() {}\nfunc (T[K]) n() {}\n"
	figures := measure(t, map[string][]byte{root + "/agent/x/x.go": []byte(source), root + "/agent/x/x_test.go": []byte(source)})
	for name, want := range map[string]int{"agent/x.T: methods": 2, "agent/x.T: fields": 3, "agent/x: lines": 9} {
		if figures[name] != want {
			t.Errorf("%s: counted %d, want %d", name, figures[name], want)
		}
	}
	for name, n := range map[string]int{"agent/x.T: methods": mostMethods, "agent/x.T: fields": mostFields, "agent/x: lines": mostLines,
		"agent.Agent: methods": allowances["agent.Agent: methods"].most} {
		if got := oversize(name, n); got != "" {
			t.Errorf("refused: %s", got)
		}
		if oversize(name, n+1) == "" {
			t.Errorf("%s: %d is not refused", name, n+1)
		}
	}
}
