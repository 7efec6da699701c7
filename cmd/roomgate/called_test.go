package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestCalledAs: the next command is printed as this program was called, and nothing else that has
// its name.
func TestCalledAs(t *testing.T) {
	for text, want := range map[string]string{
		"roomgate: there is none: see roomgate webhook list":      "roomgate: there is none: see bin/roomgate webhook list",
		"fix: sudo systemctl restart roomgate && roomgate doctor": "fix: sudo systemctl restart roomgate && bin/roomgate doctor",
		`start "roomgate demo" or (roomgate run)`:                 `start "bin/roomgate demo" or (bin/roomgate run)`,
		"roomgate has no command \"devcie\"":                      "roomgate has no command \"devcie\"",
		"usermod -aG roomgate $USER":                              "usermod -aG roomgate $USER",
		"/usr/bin/roomgate doctor":                                "/usr/bin/roomgate doctor",
	} {
		if got := calledAs("bin/roomgate", text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
		if got := calledAs("roomgate", text); got != text {
			t.Errorf("%q is %q for who has it in the path", text, got)
		}
	}
}

// TestInPath: who is called by the path that a shell would have found is called by its name.
func TestInPath(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "bin")
	t.Setenv("PATH", dir)
	for _, path := range []string{dir, other} {
		if err := errors.Join(os.MkdirAll(path, 0o755), os.WriteFile(filepath.Join(path, "roomgate"), nil, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	for program, want := range map[string]bool{filepath.Join(dir, "roomgate"): true, filepath.Join(other, "..", "roomgate"): true, filepath.Join(other, "roomgate"): false, "bin/roomgate": false} {
		if got := inPath(program); got != want {
			t.Errorf("%s: %v", program, got)
		}
	}
}
