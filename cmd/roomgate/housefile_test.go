package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// TestFiles keeps every file short and free of init functions.
func TestFiles(t *testing.T) {
	t.Parallel()
	const most = 400
	for path, source := range sources(t) {
		if generated.Match(source) {
			continue
		}
		if n := bytes.Count(source, []byte("\n")); n > most {
			t.Errorf("%s has %d lines, more than %d: it holds two nouns", path, n, most)
		}
		if !bytes.Contains(source, []byte("func init(")) {
			continue // spares the parser
		}
		if at := initFunction(t, path, source); at != "" {
			t.Errorf("%s: init function: what starts here is started by main, where it can be seen", at)
		}
	}
}

var (
	packagePattern = regexp.MustCompile(`(?m)^(?:var |\t)\w+ += regexp\.MustCompile\((.*)$`)
	countInPattern = regexp.MustCompile(`\{(?:\d+,)?(\d+)\}`)
)

// TestPatternsAreSmall: a number in a pattern takes as much memory as so many patterns, from the start to the end.
func TestPatternsAreSmall(t *testing.T) {
	t.Parallel()
	const most = 40
	for path, source := range sources(t) {
		if strings.HasSuffix(path, "_test.go") || strings.Contains(path, "test/") || !bytes.Contains(source, []byte("regexp.MustCompile(")) {
			continue
		}
		for _, pattern := range packagePattern.FindAllSubmatch(source, -1) {
			for _, count := range countInPattern.FindAllSubmatch(pattern[1], -1) {
				if n, err := strconv.Atoi(string(count[1])); err != nil || n > most {
					t.Errorf("%s: %s: count the length beside the pattern", path, pattern[0])
				}
			}
		}
	}
}

// TestHouseIsTested: a package has tests beside it, but for those that tests are made with.
func TestHouseIsTested(t *testing.T) {
	t.Parallel()
	tested := map[string]bool{}
	for at := range sources(t) {
		folder := strings.TrimPrefix(path.Dir(at), root+"/")
		tested[folder] = tested[folder] || strings.HasSuffix(at, "_test.go")
	}
	for folder, ok := range tested {
		if !ok && !strings.HasSuffix(folder, "test") {
			t.Errorf("%s has no test: write one beside it", folder)
		}
	}
}

// initFunction returns where a file has an init function, or "".
func initFunction(t *testing.T, path string, source []byte) string {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, source, parser.SkipObjectResolution)
	if err != nil {
		t.Errorf("%s: %v", path, err)
		return ""
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
			return files.Position(f.Pos()).String()
		}
	}
	return ""
}

// TestInitIsFound proves that the check above can fail.
func TestInitIsFound(t *testing.T) {
	if at := initFunction(t, "x.go", []byte("package x\n\nfunc init() {}\n")); at != "x.go:3:1" {
		t.Errorf("init function found at %q", at)
	}
	if at := initFunction(t, "x.go", []byte("package x\n\ntype T int\n\nfunc (T) init() {}\n")); at != "" {
		t.Errorf("a method found at %q", at)
	}
}
