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
	"Open":    regexp.MustCompile(`^func\(context\.Context, Options\) \(\*\w+, error\)$`),
	"New":     regexp.MustCompile(`^func\(Options\) (\*[\w.]+|\(\*\w+, error\))$`),
	"Run":     regexp.MustCompile(`^func\(context\.Context(, .*)?\) error$`),
	"Buckets": regexp.MustCompile(`^func\(\) \[\]string$`),
	"Words":   regexp.MustCompile(`^func\(\*store\.Tx(, \*auth\.Keys)?\) \[\]string$`), // sealed rows need keys
	"Forget":  regexp.MustCompile(`^func\(\*store\.Tx\) error$`),
	"Mend":    regexp.MustCompile(`^func\(\*store\.Tx, store\.Repair\) error$`),
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
