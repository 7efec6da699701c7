package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// faultClass is a class of what goes wrong, or of what somebody does.
type faultClass struct {
	name    string
	tests   []string // as "agent/api.TestName"
	control control
}

// control is the same with the protection off: one text of a file becomes another,
// and then the test has to fail.
type control struct{ file, is, becomes, test string }

// securityPage is for whoever judges the gateway: requirement, attack, test.
const securityPage = "agent/SECURITY.md"

var (
	securityRow = regexp.MustCompile(`^\| ([RA]\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$`)
	testNamed   = regexp.MustCompile("`([a-z0-9/]+)\\.(Test\\w+)`")
)

// securityRows are the rows of the page by their number.
func securityRows(t *testing.T) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, securityPage))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if m := securityRow.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			rows = append(rows, m[1:])
		} else if strings.HasPrefix(line, "| R") || strings.HasPrefix(line, "| A") {
			t.Errorf("%s: %.60s is no row of four cells", securityPage, line)
		}
	}
	return rows
}

// testsOf are the names of tests in a text, as "agent/api.TestName".
func testsOf(text string) (names []string) {
	for _, m := range testNamed.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1]+"."+m[2])
	}
	return names
}

// testNames are all tests of the tree, as "agent/api.TestName".
var testNames = sync.OnceValues(func() (map[string]bool, error) {
	files, err := readSources()
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for path, source := range files {
		if !strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				names[filepath.ToSlash(dir)+"."+f.Name.Name] = true
			}
		}
	}
	return names, nil
})

// TestSecurity compares the page of requirements and attacks with the tests: each
// row names some that there are, or says why there is none.
func TestSecurity(t *testing.T) {
	t.Parallel()
	all, err := testNames()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, row := range securityRows(t) {
		number, met := row[0], row[3]
		seen[number] = true
		names := testsOf(met)
		for _, name := range names {
			if !all[name] {
				t.Errorf("%s: %s names %s, which does not exist", securityPage, number, name)
			}
		}
		excused := regexp.MustCompile(`(?i)not (yet|in software): \w`).MatchString(met)
		if len(names) == 0 && !excused {
			t.Errorf("%s: %s names no test: name one, or say \"not yet: ...\" or \"not in software: ...\"", securityPage, number)
		}
	}
	for kind, most := range map[string]int{"R": 15, "A": 24} {
		for n := 1; n <= most; n++ {
			if number := fmt.Sprint(kind, n); !seen[number] {
				t.Errorf("%s does not have %s", securityPage, number)
			}
		}
	}
}

// TestFaultClasses: the classes of make faults name tests that there are, and what
// their controls switch off stands where they look for it, once.
func TestFaultClasses(t *testing.T) {
	t.Parallel()
	all, err := testNames()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, f := range faults {
		known[f.name] = true
		for _, name := range append(f.tests, f.control.test) {
			if !all[name] {
				t.Errorf("%s: %s does not exist", f.name, name)
			}
		}
		source, err := os.ReadFile(filepath.Join(root, f.control.file))
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
		} else if n := strings.Count(string(source), f.control.is); n != 1 || f.control.is == f.control.becomes {
			t.Errorf("%s: %s has %q %d times, want once: name what protects now", f.name, f.control.file, f.control.is, n)
		}
	}
	for name := range faultLimits {
		if !known[name] {
			t.Errorf("there is no class %s", name)
		}
	}
}
