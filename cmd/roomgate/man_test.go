package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"roomgate/agent/config"
)

// TestManPages wants a page for each command that help shows, with each of its
// flags, and one for the configuration with each key.
func TestManPages(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	dir := t.TempDir()
	root := newRoot()
	root.SetArgs([]string{"man", dir})
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	var want []string
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		name := manName(cmd) + ".8"
		want = append(want, name)
		page, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"2023-11-14", roff(cmd.Short), roff("--help")} {
			if !strings.Contains(string(page), part) {
				t.Errorf("%s does not say %q:\n%s", name, part, page)
			}
		}
		for _, c := range manBelow(cmd) {
			walk(c)
		}
	}
	walk(root)
	want = append(want, referenceName)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if slices.Sort(want); !slices.Equal(got, want) || len(got) < 20 {
		t.Errorf("pages are %q, want %q", got, want)
	}
	page, err := os.ReadFile(filepath.Join(dir, referenceName))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range config.Keys(config.Config{}) {
		if !strings.Contains(string(page), `\fB`+roff(key)+`\fR`) {
			t.Errorf("%s does not have %s", referenceName, key)
		}
	}
}

// TestManSetsThePages wants no warning of man, where there is one.
func TestManSetsThePages(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"man", "groff"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("how the pages are set is not looked at: %s is not installed", tool)
		}
	}
	dir := t.TempDir()
	root := newRoot()
	root.SetArgs([]string{"man", dir})
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", `for page in *.[58]; do man --warnings -E UTF-8 -l -Tutf8 -Z "./$page" 2>&1 >/dev/null | sed "s/^/$page: /"; done`)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "MANROFFSEQ=", "MANWIDTH=80")
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("man says %v\n%s", err, out)
	}
}

func TestManText(t *testing.T) {
	for text, want := range map[string]string{
		"one\ntwo\n\nthree":          "one\ntwo\n.PP\nthree\n",
		"codes:\n  0  done\n\nmore":  "codes:\n.nf\n  0  done\n.fi\n.PP\nmore\n",
		"end:\n  'x' \\n":            "end:\n.nf\n  \\(aqx\\(aq \\en\n.fi\n",
		"  roomgate x\n  roomgate y": ".nf\n  roomgate x\n  roomgate y\n.fi\n",
		".start\n--flag":             "\\&.start\n\\-\\-flag\n",
	} {
		if got := manText(text); got != want {
			t.Errorf("%q is set as %q, want %q", text, got, want)
		}
	}
}
