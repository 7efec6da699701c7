//go:build integration

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestStrangersClientOpensADoor: the program of the cloud's page, with npm's mqtt and
// nothing of ours, opens a door by a signed order at a gateway that takes no other, and
// none by a key that the gateway does not hold.
func TestStrangersClientOpensADoor(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "cloud", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)cat >door.mjs <<'END'\n(.*?)END\n```").FindSubmatch(page)
	if found == nil {
		t.Fatal("the page has no program")
	}
	if n := strings.Count(string(found[1]), "\n"); n > 40 {
		t.Errorf("the program has %d lines: want 40", n)
	}
	tools, err := filepath.Abs(clientTools)
	if err != nil {
		t.Fatal(err)
	}
	demo, err := os.ReadFile(filepath.Join(root, "configs", "demo.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "demo.yaml")
	if err := os.WriteFile(config, append(demo, "\ndoors: {unsigned: refuse}\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	d := startDemo(t, "--config", config)
	if err := os.Symlink(filepath.Join(tools, "node_modules"), filepath.Join(d.dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.dir, "door.mjs"), found[1], 0o600); err != nil {
		t.Fatal(err)
	}
	const opens = "node door.mjs mqtt://127.0.0.1:1884 demo 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01 "
	for _, step := range []struct{ command, says string }{
		{"roomgate cloud key create backend.key && roomgate cloud key create other.key", "public"},
		{"roomgate cloud claim demo $(roomgate claim | awk '/^claim code/ {print $3}') --organization Landlord --key backend.key --cloud mqtt://127.0.0.1:1884", "belongs to Landlord"},
		{"roomgate cloud command demo aurora lock open --cloud mqtt://127.0.0.1:1884 2>&1 || true", "is not signed"},
		{opens + "other.key", "rejected"},
		{opens + "backend.key", "done open"},
		{"roomgate device status aurora lock", "open"},
	} {
		if out, err := d.typed(t, []string{step.command}, ""); err != nil || !strings.Contains(out, step.says) {
			t.Fatalf("%s: %v, it says %s: want %q", step.command, err, out, step.says)
		}
	}
}
