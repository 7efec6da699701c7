package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"roomgate/agent"
	"roomgate/agent/webhook"
)

// TestHouseKnowsItsEvents: who asks for the events of a kind is refused where the kind is unknown, so every kind is
// known before one of it was told.
func TestHouseKnowsItsEvents(t *testing.T) {
	t.Parallel()
	for _, problem := range unknownEvents(t, sources(t), append(agent.EventKinds(), webhook.EventTest)) { // which is in no log
		t.Error(problem)
	}
}

// eventName is how a constant is called that names the kind of an event.
var eventName = regexp.MustCompile(`^[eE]vent[A-Z]`)

// unknownEvents says which events of the building and its drivers are not among those that are known, and which have
// no constant, so that nobody can say.
func unknownEvents(t *testing.T, files map[string][]byte, known []string) (problems []string) {
	t.Helper()
	texts := packageTexts(t, files)
	for _, at := range slices.Sorted(maps.Keys(files)) {
		folder := strings.TrimPrefix(path.Dir(at), root+"/")
		if strings.HasSuffix(at, "_test.go") || folder != "agent" && !strings.HasPrefix(folder, "agent/") && folder != "drivers" {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), at, files[at], parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		named := texts[path.Dir(at)]
		ast.Inspect(file, func(n ast.Node) bool {
			if f, ok := n.(*ast.FuncDecl); ok {
				named = maps.Clone(texts[path.Dir(at)])
				addTexts(f, named)
			}
			for _, kind := range namedEvents(n) {
				if kind != "" && !slices.Contains(known, kind) {
					problems = append(problems, fmt.Sprintf("%s: the event %s is in no EventKinds", at, kind))
				}
			}
			if kind := bareEvent(n, named); kind != "" {
				problems = append(problems, fmt.Sprintf("%s: the event %s has no constant: name it eventX, and in EventKinds of its package", at, kind))
			}
			return true
		})
	}
	return problems
}

// namedEvents are the values of constants that are named as events are.
func namedEvents(n ast.Node) (kinds []string) {
	spec, ok := n.(*ast.ValueSpec)
	if !ok {
		return nil
	}
	for i, name := range spec.Names {
		if i < len(spec.Values) && eventName.MatchString(name.Name) {
			kinds = append(kinds, literal(spec.Values[i]))
		}
	}
	return kinds
}

// packageTexts are the texts of the constants and variables of each folder, by their names.
func packageTexts(t *testing.T, files map[string][]byte) map[string]map[string]string {
	t.Helper()
	all := map[string]map[string]string{}
	for at, source := range files {
		file, err := parser.ParseFile(token.NewFileSet(), at, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		folder := path.Dir(at)
		if all[folder] == nil {
			all[folder] = map[string]string{}
		}
		for _, d := range file.Decls {
			if g, ok := d.(*ast.GenDecl); ok && !strings.HasSuffix(at, "_test.go") {
				addTexts(g, all[folder])
			}
		}
	}
	return all
}

// addTexts adds the names below a node that stand for a text, but for those that are named as events are.
func addTexts(below ast.Node, named map[string]string) {
	add := func(name ast.Expr, values []ast.Expr, i int) {
		if id, ok := name.(*ast.Ident); ok && i < len(values) && !eventName.MatchString(id.Name) && literal(values[i]) != "" {
			named[id.Name] = literal(values[i])
		}
	}
	ast.Inspect(below, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for i, name := range n.Names {
				add(name, n.Values, i)
			}
		case *ast.AssignStmt:
			for i, name := range n.Lhs {
				add(name, n.Rhs, i)
			}
		}
		return true
	})
}

// bareEvent is the kind of an event that is told by its text, or by a name that stands for a
// text and is not named as events are; else "".
func bareEvent(n ast.Node, named map[string]string) string {
	text := func(e ast.Expr) string {
		if id, ok := e.(*ast.Ident); ok {
			return named[id.Name]
		}
		return literal(e)
	}
	switch n := n.(type) {
	case *ast.CompositeLit: // eventlog.Record{Type: "x"}
		if s, ok := n.Type.(*ast.SelectorExpr); ok && s.Sel.Name == "Record" {
			for _, e := range n.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok && fmt.Sprint(kv.Key) == "Type" {
					return text(kv.Value)
				}
			}
		}
	case *ast.CallExpr: // device.Event("x", ...), monitor.Tell(tx, "x", ...)
		if s, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains([]string{"Event", "Tell", "tell", "NoteGateway", "later", "alert"}, s.Sel.Name) {
			for _, a := range n.Args[:min(2, len(n.Args))] {
				if kind := text(a); kind != "" {
					return kind
				}
			}
		}
	}
	return ""
}

// literal is the text of a string, or "".
func literal(e ast.Expr) string {
	if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.STRING {
		s, _ := strconv.Unquote(l.Value)
		return s
	}
	return ""
}

// TestHouseKnowsItsEventsBites proves that the check above can fail.
func TestHouseKnowsItsEventsBites(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]int{
		`const eventOpened = "opened"`:                                         0,
		`const eventShut = "shut"`:                                             1,
		`const device = "shut"`:                                                0,
		`var r = eventlog.Record{Type: eventOpened}`:                           0,
		`var r = eventlog.Record{Type: "opened"}`:                              1,
		`func f() { d.Event("opened", "", now, nil) }`:                         1,
		`func f() { d.Event(eventOpened, "", now, nil) }`:                      0,
		`func f() { m.Tell(tx, "opened", nil) }`:                               1,
		`func f() { kind := "opened"; d.Event(kind, "", now, nil) }`:           1,
		`func f() { var kind = "opened"; m.Tell(tx, kind, nil) }`:              1,
		`const opened = "opened"; var r = eventlog.Record{Type: opened}`:       1,
		`func f(kind string) { d.Event(kind, "", now, nil) }`:                  0,
		`func f() { m.Tell(tx, eventOpened, map[string]any{"kind": "shut"}) }`: 0,
	} {
		found := unknownEvents(t, map[string][]byte{root + "/agent/x/x.go": []byte("package x\n\n" + source)}, []string{"opened"})
		if len(found) != want {
			t.Errorf("%s: %q, want %d", source, found, want)
		}
	}
}
