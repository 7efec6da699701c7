package main

import (
	"debug/buildinfo"
	"os"
	"reflect"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// TestInside holds the list of what is inside to what the program was built
// from, and to what SPDX wants.
func TestInside(t *testing.T) {
	t.Parallel()
	info, ok := debug.ReadBuildInfo()
	if !ok {
		t.Fatal("the test does not know what it was built from")
	}
	s := inside(info, "1.2.3")
	if s.Version != "SPDX-2.3" || s.License != "CC0-1.0" || s.ID != "SPDXRef-DOCUMENT" || !strings.HasPrefix(s.Namespace, "urn:roomgate:spdx:1.2.3:") {
		t.Errorf("%+v", s)
	}
	if _, err := time.Parse(time.RFC3339, s.Creation.Created); err != nil || len(s.Creation.Creators) == 0 {
		t.Errorf("made %+v", s.Creation)
	}
	found, ids := map[string]spdxPackage{}, map[string]bool{s.ID: true}
	for _, p := range s.Packages {
		if ids[p.ID] || notOfID.MatchString(strings.TrimPrefix(p.ID, "SPDXRef-")) || p.Download == "" || p.Version == "" {
			t.Errorf("package %+v", p)
		}
		found[p.Name], ids[p.ID] = p, true
	}
	if len(info.Deps) < 10 || len(s.Packages) != len(info.Deps)+2 {
		t.Errorf("%d packages of %d modules", len(s.Packages), len(info.Deps))
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		p := found[m.Path]
		if p.Version != m.Version || !strings.Contains(p.Comment, m.Sum) || p.Refs[0].Locator != "pkg:golang/"+m.Path+"@"+m.Version {
			t.Errorf("module %s %s is %+v", m.Path, m.Version, p)
		}
	}
	if len(s.Relationships) != len(s.Packages) {
		t.Errorf("%d relations of %d packages", len(s.Relationships), len(s.Packages))
	}
	for _, r := range s.Relationships {
		if !ids[r.From] || !ids[r.To] {
			t.Errorf("a relation leads nowhere: %+v", r)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	of, err := buildOf(self)
	if err != nil || !reflect.DeepEqual(inside(of, "1.2.3"), s) {
		t.Errorf("of the file it is another: %v", err)
	}
	for _, none := range []string{"sbom_test.go", "nothing-here"} {
		if _, err := buildOf(none); err == nil {
			t.Errorf("%s was built from something", none)
		}
	}
}

// TestReadBuild holds what is read of a program to what debug/buildinfo reads of it, and reads rubbish.
func TestReadBuild(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	want, err := buildinfo.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	got, err := buildOf(self)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	mark := strings.Repeat("m", buildMark)
	head := buildMagic + "\x08\x02" + strings.Repeat("\x00", buildHeader-len(buildMagic)-2)
	list := mark + "path\troomgate\n" + mark
	whole := head + "\x06go1.26" + string(rune(len(list))) + list
	for cut := range len(whole) {
		if _, err := readBuild([]byte(buildMagic + whole[:cut])); err == nil {
			t.Errorf("%d bytes are enough", cut)
		}
	}
	if _, err := readBuild([]byte("#!/bin/sh")); err == nil || !strings.Contains(err.Error(), "built by Go 1.18 or later") {
		t.Errorf("of a script: %v", err)
	}
	info, err := readBuild([]byte(buildMagic + whole + "more"))
	if err != nil || info.GoVersion != "go1.26" || info.Path != "roomgate" {
		t.Errorf("%+v, %v", info, err)
	}
}
