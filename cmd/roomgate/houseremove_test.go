package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// removable are the nouns that a building can do without, each with the files of other packages that know it: its own
// places at each entrance. Within package agent nothing depends on it but what names it and agent/wireNOUN.go.
var removable = map[string][]string{
	"homeassistant": nil,
	"claim":         {"agent/api/gatewayclaim.go", "agent/doctor/claim.go", "cmd/roomgate/claim.go", "cmd/roomgate/run.go", "cmd/roomgate/screen.go"},
	"enrol":         nil,
	"push":          {"agent/doctor/queues.go", "agent/message/book/book.go", "agent/message/book/pusher.go", "cmd/roomgate/demonet.go"},
	"update": {"agent/api/consoleupdate.go", "agent/console/update.go",
		"agent/doctor/doctor.go", "agent/doctor/update.go", "agent/errand/errand.go",
		"cmd/roomgate/launch.go", "cmd/roomgate/update.go", "cmd/roomgate/updatebundle.go", "cmd/roomgate/updatedoor.go", "cmd/roomgate/updatefetch.go"},
}

// TestRemovable takes each of those nouns away and compiles what joins the others.
func TestRemovable(t *testing.T) {
	t.Parallel()
	load := exports(t)
	for noun, places := range removable {
		t.Run(noun, func(t *testing.T) {
			t.Parallel()
			for _, at := range slices.Sorted(maps.Keys(sources(t))) {
				known := strings.TrimPrefix(at, root+"/")
				if !strings.HasSuffix(at, "_test.go") && path.Dir(known) != "agent" && bytes.Contains(sources(t)[at], []byte(`"roomgate/agent/`+noun+`"`)) && !slices.Contains(places, known) {
					t.Errorf("%s knows %s: without it the building lacks more than that, so ask by a function, or name the file in removable", known, noun)
				}
			}
			joining := map[string][]byte{}
			for at, source := range sources(t) {
				if path.Dir(at) == root+"/agent" && !strings.HasSuffix(at, "_test.go") {
					joining[at] = source
				}
			}
			for _, problem := range without(t, noun, joining, load) {
				t.Errorf("package agent without %s: %s: say it in agent/wire%s.go", noun, problem, noun)
			}
		})
	}
}

// without says why the files of package agent do not compile without wireNOUN.go and all that names the noun.
func without(t *testing.T, noun string, files map[string][]byte, load importer.Lookup) (problems []string) {
	t.Helper()
	var kept []*ast.File
	set, cut := token.NewFileSet(), cutting{noun, map[string]bool{}, map[string]bool{}}
	for at, source := range files {
		file, err := parser.ParseFile(set, at, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if path.Base(at) == "wire"+noun+".go" {
			cut.declared(file)
		} else {
			kept = append(kept, file)
		}
	}
	for _, f := range kept {
		cut.holders(f)
	}
	for _, f := range kept {
		cut.file(f)
	}
	config := types.Config{Importer: importer.ForCompiler(set, "gc", load), Error: func(err error) {
		if e := (types.Error{}); errors.As(err, &e) && !e.Soft { // what only the noun needed is imported still
			problems = append(problems, err.Error())
		}
	}}
	_, _ = config.Check("roomgate/agent", set, kept, nil) // Error hears all
	return problems
}

// TestRemovableBites proves that the check above can fail.
func TestRemovableBites(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]int{
		`func f() { noun.Run() }`:                                                     0,
		`type A struct { N *noun.N }; func (a A) f() { a.N.Run() }`:                   0,
		`type A struct { N *noun.N; all []int }; var a = A{N: open(), all: []int{1}}`: 0,
		`var x = open()`:                       1,
		`func f() int { return noun.Count() }`: 1,
		`func f(n *noun.N) {}`:                 1,
	} {
		load := func(string) (io.ReadCloser, error) { return nil, errors.New("there is none") }
		found := without(t, "noun", map[string][]byte{"wirenoun.go": []byte("package agent\n\nfunc open() int { return 1 }"), "x.go": []byte("package agent\n\n" + source)}, load)
		if len(found) != want {
			t.Errorf("%s: %q, want %d", source, found, want)
		}
	}
}

// cutting takes what names a noun out of the files of a package: fields, statements, elements and arguments of lists.
type cutting struct {
	noun   string
	own    map[string]bool // what its file declares
	fields map[string]bool // that hold it
}

// declared notes what the noun's own file declares.
func (c *cutting) declared(file *ast.File) {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
			c.own[f.Name.Name] = true
		}
	}
}

// holders takes the fields of structs that hold the noun, by whose names it is named elsewhere.
func (c *cutting) holders(file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.StructType); ok {
			s.Fields.List = slices.DeleteFunc(s.Fields.List, func(f *ast.Field) bool {
				if !c.named(f.Type) {
					return false
				}
				for _, name := range f.Names {
					c.fields[name.Name] = true
				}
				return true
			})
		}
		return true
	})
}

// named says whether a part of a file names the noun.
func (c *cutting) named(n ast.Node) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			of, ok := n.X.(*ast.Ident)
			found = found || ok && of.Name == c.noun || c.fields[n.Sel.Name]
		case *ast.KeyValueExpr:
			key, ok := n.Key.(*ast.Ident)
			found = found || ok && c.fields[key.Name]
		case *ast.Ident:
			found = found || c.own[n.Name]
		case *ast.ImportSpec:
			found = found || n.Path.Value == `"roomgate/agent/`+c.noun+`"`
		}
		return !found
	})
	return found
}

// file cuts from the inside outwards, so that as little goes as can.
func (c *cutting) file(file *ast.File) {
	var open []ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		if n != nil {
			open = append(open, n)
			return true
		}
		n, open = open[len(open)-1], open[:len(open)-1]
		switch n := n.(type) {
		case *ast.BlockStmt:
			n.List = slices.DeleteFunc(n.List, func(s ast.Stmt) bool {
				_, result := s.(*ast.ReturnStmt)
				return !result && c.named(s)
			})
		case *ast.CompositeLit:
			n.Elts = slices.DeleteFunc(n.Elts, func(e ast.Expr) bool { return c.named(e) })
		case *ast.CallExpr: // of any number
			if f := types.ExprString(n.Fun); f == "slices.Concat" || f == "errors.Join" {
				n.Args = slices.DeleteFunc(n.Args, func(e ast.Expr) bool { return c.named(e) })
			}
		case *ast.GenDecl:
			n.Specs = slices.DeleteFunc(n.Specs, func(s ast.Spec) bool { return n.Tok == token.IMPORT && c.named(s) })
		}
		return true
	})
}

// exports reads what the packages of the house and those that they import declare, as they are compiled.
func exports(t *testing.T) importer.Lookup {
	t.Helper()
	list := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export", "./agent")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ ImportPath, Export string }
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }
		} else if err != nil {
			t.Fatal(err)
		}
		files[p.ImportPath] = p.Export
	}
}
