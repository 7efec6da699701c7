package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// unfuzzed are the fuzz targets that `make fuzz` leaves out: nobody else's bytes reach them.
var unfuzzed = map[string]string{
	"agent/config:FuzzParse":      "the owner's file",
	"agent/setup:FuzzLay":         "what the installer answers",
	"cmd/roomgate:FuzzPerson":     "an argument",
	"cmd/roomgate:FuzzNewCommand": "an argument",
	"cmd/roomgate/show:FuzzTimes": "output",
	"drivers/parts:FuzzDecode":    "a register",
	"drivers/sim/plan:FuzzParse":  "the demo's plan",
}

var (
	fuzzTarget = regexp.MustCompile(`[a-z0-9/]+:Fuzz\w+`)
	fuzzFunc   = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)
)

// TestFuzzTargets: `make fuzz` runs each parser that strangers reach, and names none that is
// not there: it would run nothing, and pass.
func TestFuzzTargets(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	script, err := os.ReadFile(filepath.Join(root, ".ci", "fuzz"))
	if err != nil {
		t.Fatal(err)
	}
	named := fuzzTarget.FindAllString(string(script), -1)
	var there []string
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		folder, _ := filepath.Rel(root, filepath.Dir(path))
		for _, f := range fuzzFunc.FindAllSubmatch(text, -1) {
			there = append(there, filepath.ToSlash(folder)+":"+string(f[1]))
		}
		return err
	})
	if err != nil || len(there) < 50 {
		t.Fatalf("%d targets, %v", len(there), err)
	}
	for _, f := range there {
		if _, left := unfuzzed[f]; left == slices.Contains(named, f) {
			t.Errorf("%s: name it in .ci/fuzz if anybody else's bytes reach it, or in unfuzzed with the reason", f)
		}
	}
	for _, f := range named {
		if !slices.Contains(there, f) {
			t.Errorf("%s in .ci/fuzz is no fuzz target", f)
		}
	}
	for f := range unfuzzed {
		if !slices.Contains(there, f) {
			t.Errorf("%s in unfuzzed is no fuzz target", f)
		}
	}
}
