package api

import (
	"strings"
	"testing"
)

// TestOverlay lays one mapping over another.
func TestOverlay(t *testing.T) {
	const base = "a: 1\nb:\n  c: {x: 1}\n  d:\n    - one\n  e: >-\n    text\n\"200\":\n  f: 2\n"
	for over, want := range map[string]string{
		"":                                   base,
		"a: 2\n":                             strings.Replace(base, "a: 1", "a: 2", 1),
		"b:\n  c: null\n":                    strings.Replace(base, "  c: {x: 1}\n", "", 1),
		"b:\n  d:\n    - two\n    - three\n": strings.Replace(base, "    - one\n", "    - two\n    - three\n", 1),
		"b:\n  e: other\n":                   strings.Replace(base, "  e: >-\n    text\n", "  e: other\n", 1),
		"# why\n\"200\":\n  g:\n    h: 3\n":  base + "  g:\n    h: 3\n",
		"b: [1]\n":                           "a: 1\nb: [1]\n\"200\":\n  f: 2\n",
	} {
		if got := overlaid(base, over); got != want {
			t.Errorf("with %q over it, it is\n%s\nwant\n%s", over, got, want)
		}
	}
}

// TestDifferencesAreOnes: every entry of openapi2.yaml is of an operation or a
// schema that there is, and changes something.
func TestDifferencesAreOnes(t *testing.T) {
	literal, differs := blocks(openapiHead+openapiSchemas), blocks(openapi2Differs)
	made := twinPaths(blocks(below(literal, "paths")))
	for _, p := range blocks(below(differs, "paths")) {
		for _, operation := range blocks(p.text) {
			was := below(made, p.key, operation.key)
			if was == "" {
				t.Errorf("%s %s has no twin", operation.key, p.key)
				continue
			}
			idle(t, p.key+" "+operation.key, was, operation.text)
		}
	}
	known := blocks(below(literal, "components", "schemas"))
	for _, s := range blocks(below(differs, "components", "schemas")) {
		if entry(known, s.key) >= 0 {
			t.Errorf("schema %s has the name of another one of V1.0", s.key)
		}
		for _, of := range append(blocks(s.text), block{}) {
			if of.key == "from" && below(known, strings.TrimPrefix(of.head, "from: ")) == "" {
				t.Errorf("schema %s is %s, which is not there", s.key, of.head)
			}
		}
	}
	for name := range renamed {
		if entry(known, name) < 0 {
			t.Errorf("%s is not a schema of V1.0", name)
		}
	}
}

// idle finds entries that say what is so already.
func idle(t *testing.T, at, base, over string) {
	t.Helper()
	was := blocks(base)
	for _, o := range blocks(over) {
		i := entry(was, o.key)
		switch {
		case i < 0 && strings.HasSuffix(o.head, ": null"), i >= 0 && was[i] == o:
			t.Errorf("%s/%s changes nothing", at, o.key)
		case i >= 0:
			idle(t, at+"/"+o.key, was[i].text, o.text)
		}
	}
}
