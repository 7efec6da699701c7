//go:build integration

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"roomgate/configs"
)

// TestDoorPageInABrowser lives with the page of a demo at a door, in a browser that
// reaches it as a building does: by a name, without TLS.
func TestDoorPageInABrowser(t *testing.T) {
	d := namedDemo(t)
	link := regexp.MustCompile(`http://127\.0\.0\.1:\d+/display/` + demoAurora + `(#code=\S+)`).FindStringSubmatch(d.printed(t))
	if link == nil {
		t.Fatalf("no link to the page in %s", d.printed(t))
	}
	live(t, d, "door.js", "ROOM="+demoAurora, "CODE="+link[1])
}

// TestDoorPageOutlivesOutages: a page that is open says its age while the gateway or the
// network is away, and is right by itself when they are back.
func TestDoorPageOutlivesOutages(t *testing.T) {
	t.Parallel()
	live(t, &runningDemo{}, "outage.js", "ROOM="+demoAurora, "CONFIG="+namedConfig(t), "DATA="+t.TempDir(), "ROOMGATE_SYSTEM_KEY="+demoKey)
}

// namedDemo is a demo that a browser reaches by a name.
func namedDemo(t *testing.T, more ...string) *runningDemo {
	t.Helper()
	return startDemo(t, append([]string{"--config", namedConfig(t)}, more...)...)
}

// namedConfig is the file of its configuration.
func namedConfig(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "named.yaml")
	named := bytes.Replace(configs.Demo, []byte("\nhttp:\n"), []byte("\nclock: {trust: always}\nhttp:\n  names: [gateway.test]\n"), 1)
	if err := os.WriteFile(file, named, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// live has a browser live with the pages of a demo by a script, and wants no complaint.
func live(t *testing.T, d *runningDemo, script string, more ...string) {
	t.Helper()
	modules, err := filepath.Abs("../../.ci/browser/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	out, err := filepath.Abs("../../bin/screens")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", filepath.Join("testdata", "browser", script))
	cmd.Env = append(append(os.Environ(), "MODULES="+modules, "OUT="+out, "CHROMIUM=/usr/bin/chromium", "PORT="+d.ports["8080"], "KEY="+demoKey), more...)
	said, err := cmd.CombinedOutput()
	for line := range strings.Lines(string(said)) {
		if strings.HasPrefix(line, "WRONG ") {
			t.Error(strings.TrimSpace(line[6:]))
			continue
		}
		t.Log(strings.TrimSpace(line))
	}
	if err != nil || !bytes.Contains(said, []byte("DONE")) {
		t.Errorf("%v: %s", err, said)
	}
}
