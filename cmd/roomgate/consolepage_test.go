//go:build integration

package main

import (
	"regexp"
	"testing"
)

// TestConsoleInABrowser lives with the console of a demo, in a browser that reaches it as
// a building does: by a name, without TLS.
func TestConsoleInABrowser(t *testing.T) {
	t.Parallel()
	d := namedDemo(t)
	link := regexp.MustCompile(`http://127\.0\.0\.1:\d+/console(#code=\S+)`).FindStringSubmatch(d.printed(t))
	if link == nil {
		t.Fatalf("no link to the console in %s", d.printed(t))
	}
	live(t, d, "console.js", "ROOM="+demoAurora, "OTHER="+demoBorealis, "CODE="+link[1], "DEMO="+d.dir)
}
