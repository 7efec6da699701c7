//go:build integration

package main

import (
	"bytes"
	"os"
	"regexp"
	"testing"
)

// TestConsoleSetsUpInABrowser adds a meeting space and its devices from the console, in a
// browser, and has axe look at each page.
func TestConsoleSetsUpInABrowser(t *testing.T) {
	file := namedConfig(t)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte("\n  listen: 127.0.0.1:1883\n"), []byte("\n  listen: 127.0.0.1:1883\n  users: [{name: panel, password: secret, publish: [], subscribe: []}]\n"), 1)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	d := startDemo(t, "--config", file)
	link := regexp.MustCompile(`http://127\.0\.0\.1:\d+/console(#code=\S+)`).FindStringSubmatch(d.printed(t))
	if link == nil {
		t.Fatalf("no link to the console in %s", d.printed(t))
	}
	live(t, d, "setup.js", "CODE="+link[1])
}
