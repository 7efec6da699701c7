//go:build integration

package main

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"roomgate/agent/update"
)

// TestConsoleUpdatesInABrowser brings a gateway a release from the console, in a browser
// that stays open while the gateway ends and starts again with it.
func TestConsoleUpdatesInABrowser(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	if err := l.Close(); err != nil { // the gateway has the same one after its start
		t.Fatal(err)
	}
	g := &supervised{t: t, dir: shortDir(t), listen: "127.0.0.1:" + port}
	key := filepath.Join(g.dir, "key")
	public, err := update.NewKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := "gateway: {id: test}\nclock: {trust: always}\nhttp: {names: [gateway.test]}\nupdate: {trial: 3s, keys: [\"" + public + "\"]}\n" +
		"spaces: [{id: " + demoRoom + ", name: Hall, timezone: UTC}]\n"
	if err := os.WriteFile(filepath.Join(g.dir, "gateway.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	g.start()
	t.Cleanup(func() { _ = g.proc.Process.Kill(); <-g.gone })
	g.answers()
	said, err := g.command("console", "--data", "data", "--output", "json").Output()
	var link consoleLink
	if err != nil || json.Unmarshal(said, &link) != nil {
		t.Fatalf("no link to the console: %v %s", err, said)
	}
	// The update waits for the end of a meeting, unless somebody does not.
	if said, err := g.command("booking", "create", "hall", "now", "60m", "--data", "data").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, said)
	}
	newest := filepath.Join(g.dir, g.bundle("1.1.0", key))
	done := make(chan struct{})
	go func() {
		live(t, &runningDemo{ports: map[string]string{"8080": port}}, "update.js", "CODE=#code="+link.Code, "BUNDLE="+newest, "OTHER="+key)
		close(done)
	}()
	for again := time.NewTicker(50 * time.Millisecond); ; { // as the service manager does
		select {
		case <-again.C:
			g.keep()
		case <-done:
			again.Stop()
			return
		}
	}
}
