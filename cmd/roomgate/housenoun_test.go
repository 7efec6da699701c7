package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// shapes is how every noun below the agent answers the same question, by the
// name of its function: parameters and results, without names. Who has read one
// noun has read all.
var shapes = map[string]*regexp.Regexp{
	"Open":       regexp.MustCompile(`^func\(context\.Context, Options\) \(\*\w+, error\)$`),
	"New":        regexp.MustCompile(`^func\(Options\) (\*[\w.]+|\(\*\w+, error\))$`),
	"Run":        regexp.MustCompile(`^func\(context\.Context(, .*)?\) error$`),
	"EventKinds": regexp.MustCompile(`^func\(\) \[\]string$`),
	"Buckets":    regexp.MustCompile(`^func\(\) \[\]string$`),
	"Words":      regexp.MustCompile(`^func\(\*store\.Tx(, \*auth\.Keys)?\) \[\]string$`), // sealed rows need keys
	"Forget":     regexp.MustCompile(`^func\(\*store\.Tx\) error$`),
	"Mend":       regexp.MustCompile(`^func\(\*store\.Tx, store\.Repair\) error$`),
}

// TestNouns keeps the nouns alike.
func TestNouns(t *testing.T) {
	t.Parallel()
	for _, problem := range misshapen(t, sources(t)) {
		t.Error(problem)
	}
}

// misshapen says which functions of nouns differ from shapes, and which nouns do
// not name their tables.
func misshapen(t *testing.T, files map[string][]byte) (problems []string) {
	t.Helper()
	tables, named := map[string]bool{}, map[string]bool{}
	for _, at := range slices.Sorted(maps.Keys(files)) {
		folder := strings.TrimPrefix(path.Dir(at), root+"/")
		if strings.HasSuffix(at, "_test.go") || !strings.HasPrefix(folder, "agent/") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), at, files[at], parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && (s.Sel.Name == "NewTable" || s.Sel.Name == "NewQueue") {
				tables[folder] = true
			}
			return true
		})
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			named[folder] = named[folder] || f.Name.Name == "Buckets"
			if problem := oddShape(f); problem != "" {
				problems = append(problems, at+": "+problem)
			}
		}
	}
	for folder := range tables {
		if !named[folder] {
			problems = append(problems, folder+" has a table and no Buckets, which names it")
		}
	}
	return problems
}

// asked are the questions that the agent puts to every noun that answers them, each
// with the file of package agent that does.
var asked = map[string]string{"EventKinds": "eventkind.go", "Buckets": "tables.go", "Words": "support.go", "Forget": "backupforeign.go", "Mend": "repair.go"}

// TestNounsAreAsked: a noun that answers is asked by the package that joins them.
func TestNounsAreAsked(t *testing.T) {
	t.Parallel()
	for _, problem := range unasked(t, sources(t)) {
		t.Error(problem)
	}
}

// unasked says which answers of nouns nobody in package agent wants.
func unasked(t *testing.T, files map[string][]byte) (problems []string) {
	t.Helper()
	answers, joining := map[string]string{}, ""
	for at, source := range files {
		folder := strings.TrimPrefix(path.Dir(at), root+"/")
		if strings.HasSuffix(at, "_test.go") || folder != "agent" && !strings.HasPrefix(folder, "agent/") {
			continue
		}
		if folder == "agent" {
			joining += string(source)
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), at, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && asked[f.Name.Name] != "" && shapes[f.Name.Name].MatchString(shapeOf(f.Type)) {
				answers[file.Name.Name+"."+f.Name.Name+"("] = at + " has " + f.Name.Name + ", and nobody asks it: call it in agent/" + asked[f.Name.Name]
			}
		}
	}
	for call, problem := range answers {
		if !strings.Contains(joining, call) {
			problems = append(problems, problem)
		}
	}
	return problems
}

// TestNounsAreAskedBites proves that the check above can fail.
func TestNounsAreAskedBites(t *testing.T) {
	t.Parallel()
	for joining, want := range map[string]int{"": 1, "var _ = x.Forget(tx)": 0, "var _ = y.Forget(tx)": 1} {
		found := unasked(t, map[string][]byte{
			root + "/agent/x/x.go":   []byte("package x\n\nfunc Forget(tx *store.Tx) error {}"),
			root + "/agent/agent.go": []byte("package agent\n\n" + joining),
		})
		if len(found) != want {
			t.Errorf("%q: %q", joining, found)
		}
	}
}

// oddShape says what is unlike other nouns in a function, or "".
func oddShape(f *ast.FuncDecl) string {
	if f.Recv != nil && f.Name.Name != "Run" && f.Name.Name != "Mend" {
		return "" // what a method asks is the type's own business
	}
	for name, want := range shapes {
		if !strings.HasPrefix(f.Name.Name, name) || (name == "Run" || name == "New" || name == "Open") && f.Name.Name != name {
			continue
		}
		shape := shapeOf(f.Type)
		switch {
		case f.Name.Name != name:
			return fmt.Sprintf("%s asks what other nouns call %s", f.Name.Name, name)
		case (name == "New" || name == "Open") && !strings.Contains(shape, "Options"):
			return "" // it makes a value, or reads a file
		case !want.MatchString(shape):
			return fmt.Sprintf("%s is %s: want %s, as other nouns have it", name, shape, want)
		}
	}
	return ""
}

// shapeOf writes the type of a function without the names of its parameters.
func shapeOf(f *ast.FuncType) string {
	list := func(fields *ast.FieldList) (all []string) {
		if fields == nil {
			return nil
		}
		for _, p := range fields.List {
			for range max(1, len(p.Names)) {
				all = append(all, types.ExprString(p.Type))
			}
		}
		return all
	}
	results := list(f.Results)
	shape := "func(" + strings.Join(list(f.Params), ", ") + ")"
	switch len(results) {
	case 0:
		return shape
	case 1:
		return shape + " " + results[0]
	}
	return shape + " (" + strings.Join(results, ", ") + ")"
}

// TestNounsBite proves that the check above can fail.
func TestNounsBite(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]bool{
		"func Open(_ context.Context, o Options) (*Book, error) {}":     false,
		"func Open(o Options) (*Book, error) {}":                        true,
		"func New(o Options) *Book {}":                                  false,
		"func New(o Options) Book {}":                                   true,
		"func New(title string) Book {}":                                false,
		"func (b *Book) Run(ctx context.Context) error {}":              false,
		"func (b *Book) Run(ctx context.Context) {}":                    true,
		"func Forget(tx *store.Tx) error {}":                            false,
		"func ForgetWaiting(tx *store.Tx) error {}":                     true,
		"func Words(tx *store.Tx) (words []string) {}":                  false,
		"func Words(db *store.DB) (words []string) {}":                  true,
		"func (b *Book) Words() int {}":                                 false,
		"func Bucket() string {}\nvar t = store.NewTable[int](\"\")":    true,
		"func Buckets() []string {}\nvar t = store.NewTable[int](\"\")": false,
		"func Mend(tx *store.Tx, r store.Repair) error {}":              false,
		"func (b *Book) Mend(r store.Repair) error {}":                  true,
	} {
		found := misshapen(t, map[string][]byte{root + "/agent/x/x.go": []byte("package x\n\n" + source)})
		if (len(found) > 0) != want {
			t.Errorf("%s: %q, refused should be %v", source, found, want)
		}
	}
}
