package main

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// anotherWay is how a request would leave the gateway past agent/outgoing, which
// judges where it goes, bounds it, and uses no proxy of the environment.
var anotherWay = regexp.MustCompile(`\bhttp\.(Transport|Client)\{[^}]|\bhttp\.(DefaultClient|DefaultTransport)\b|\bhttp\.(Get|Head|Post|PostForm)\(`)

// otherWays are not ways out of the building: a camera is reached by its bus, the command
// line asks a gateway, and a test receives what is sent.
var otherWays = []string{"agent/outgoing/", "drivers/camera/", "drivers/sim/", "agent/webhook/webhooktest/", "cmd/roomgate/client.go", "cmd/roomgate/demonet.go"}

// TestOneWayOut keeps it so: whoever may name a target of a second client would
// be let in to the network of the gateway.
func TestOneWayOut(t *testing.T) {
	t.Parallel()
	for path, source := range sources(t) {
		path = strings.TrimPrefix(filepath.ToSlash(path), root+"/")
		if strings.HasSuffix(path, "_test.go") || slices.ContainsFunc(otherWays, func(w string) bool { return strings.HasPrefix(path, w) }) {
			continue
		}
		if !bytes.Contains(source, []byte("http.")) {
			continue // spares the expression
		}
		if found := anotherWay.Find(source); found != nil {
			t.Errorf("%s has %q: requests go out by agent/outgoing", path, found)
		}
	}
	for text, wrong := range map[string]bool{"http.Get(url)": true, "&http.Client{Timeout: 1}": true, "http.DefaultTransport": true,
		"http.Client{}": false, "http.MethodGet": false, "outgoing.New(o)": false} {
		if anotherWay.MatchString(text) != wrong {
			t.Errorf("%s: found is %v", text, !wrong)
		}
	}
}
