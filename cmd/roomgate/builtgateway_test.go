//go:build integration

package main

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// buildRoomgate puts the program at out. Unless files are changed it is the one inside this test binary, which a control of make
// faults has changed already. changed are files that stand in for those of the source, by the paths of both.
func buildRoomgate(t *testing.T, out string, changed map[string]string) {
	t.Helper()
	if len(changed) == 0 {
		within, err := exec.LookPath("roomgate")
		if err == nil {
			err = os.Symlink(within, out)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	all := standIns{map[string]string{}}
	if name := os.Getenv(overlayOfControl); name != "" {
		text, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(text, &all)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	maps.Copy(all.Replace, changed)
	file := filepath.Join(t.TempDir(), "overlay.json")
	text, err := json.Marshal(all)
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-overlay", file, "-o", out, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
}
