//go:build integration

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// clientTools is where .ci/install puts what reads the descriptions, and clientSources
// what that is told.
const clientTools, clientSources = root + "/.cache/clients", root + "/.ci/clients"

// described is a folder with the descriptions as a running demo serves them, beside
// the tools that read them.
func described(t *testing.T) (d *runningDemo, dir string) {
	t.Helper()
	tools, err := filepath.Abs(clientTools)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(tools, "installed")); err != nil {
		t.Fatalf("%v: run .ci/install, as make test-all does", err)
	}
	d, dir = startDemo(t), t.TempDir()
	if err := os.Symlink(filepath.Join(tools, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"v1.yaml": "/openapi.yaml", "v2.yaml": "/v2.0/openapi.yaml", "asyncapi.yaml": "/asyncapi.yaml"} {
		status, text := d.call(t, "GET", path, "", nil)
		if status != 200 {
			t.Fatalf("%s: %d", path, status)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"package.json", "redocly.yaml", "client.ts", "asyncapi.mjs"} {
		text, err := os.ReadFile(filepath.Join(clientSources, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return d, dir
}

// node runs a program of the tools in a folder and returns its output.
func node(t *testing.T, dir string, args ...string) (out string, err error) {
	t.Helper()
	if bin := filepath.Join(dir, "node_modules", ".bin", args[0]); !strings.Contains(args[0], ".") {
		args[0] = bin
	}
	cmd := exec.CommandContext(t.Context(), "node", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true", "NO_COLOR=1")
	var said bytes.Buffer
	cmd.Stderr = &said
	answer, err := cmd.Output()
	if err != nil {
		t.Logf("%s: %v\n%s", strings.Join(args, " "), err, &said)
	}
	return string(answer), err
}

// TestDescriptionsAreRead by the tools of others: redocly finds nothing in either
// version of the HTTP interface, AsyncAPI's own parser nothing in the messages.
func TestDescriptionsAreRead(t *testing.T) {
	_, dir := described(t)
	lint := func(name string) (found []string) {
		out, err := node(t, dir, "redocly", "lint", "--config=redocly.yaml", "--format=json", name)
		var report struct {
			Problems []struct {
				Message, RuleID string
				Location        []struct{ Pointer string }
			}
		}
		if e := json.Unmarshal([]byte(out), &report); e != nil {
			t.Fatalf("%s: %v, %v in %s", name, err, e, out)
		}
		for _, p := range report.Problems {
			where := ""
			if len(p.Location) > 0 {
				where = p.Location[0].Pointer
			}
			found = append(found, p.RuleID+" at "+where+": "+p.Message)
		}
		return found
	}
	for _, name := range []string{"v1.yaml", "v2.yaml"} {
		for _, problem := range lint(name) {
			t.Errorf("%s: %s", name, problem)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "v1.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	spoilt := strings.Replace(string(text), `description: "stable, for programs"`, "description: stable, for programs", 1)
	if err := os.WriteFile(filepath.Join(dir, "spoilt.yaml"), []byte(spoilt), 0o600); err != nil {
		t.Fatal(err)
	}
	if found := lint("spoilt.yaml"); !slices.ContainsFunc(found, func(p string) bool { return strings.Contains(p, "for programs") }) {
		t.Errorf("a cut description is not found: %q", found)
	}
	out, err := node(t, dir, "asyncapi.mjs", "asyncapi.yaml")
	if lines := strings.Split(strings.TrimSpace(out), "\n"); err != nil || len(lines) != 1 || !strings.HasPrefix(lines[0], "channels ") {
		t.Errorf("asyncapi.yaml: %v, %s", err, out)
	}
}

// TestGeneratedClient is made of both descriptions by openapi-typescript, compiles
// strictly, and asks a running gateway.
func TestGeneratedClient(t *testing.T) {
	d, dir := described(t)
	for _, name := range []string{"v1", "v2"} {
		if _, err := node(t, dir, "openapi-typescript", name+".yaml", "-o", name+".ts"); err != nil {
			t.Fatal(err)
		}
	}
	strictly := []string{"tsc", "--strict", "--skipLibCheck", "--target", "es2022", "--module", "nodenext",
		"--moduleResolution", "nodenext", "--lib", "es2022,dom", "client.ts"}
	if out, err := node(t, dir, strictly...); err != nil {
		t.Fatalf("it does not compile: %s", out)
	}
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	out, err := node(t, dir, "client.js", "http://127.0.0.1:"+d.ports["8080"], demoKey, base64.StdEncoding.EncodeToString(picture.Bytes()))
	want := `space Aurora 8
status light
intensity 0 100
action done
reading true 40 % undefined
bulk 201 Generated
bookings 1 null
refused 404 not_found
picture 200
`
	if err != nil || out != want {
		t.Errorf("%v, it says\n%swant\n%s", err, out, want)
	}
}
