//go:build integration

package main

import (
	"regexp"
	"testing"
)

// TestConsoleManagesInABrowser makes, changes and ends what the pages of the console
// manage, in a browser, and has axe look at each of them.
func TestConsoleManagesInABrowser(t *testing.T) {
	t.Parallel()
	d := namedDemo(t, "--allow-loopback")
	link := regexp.MustCompile(`http://127\.0\.0\.1:\d+/console(#code=\S+)`).FindStringSubmatch(d.printed(t))
	if link == nil {
		t.Fatalf("no link to the console in %s", d.printed(t))
	}
	live(t, d, "manage.js", "ROOM="+demoAurora, "CODE="+link[1])
}
