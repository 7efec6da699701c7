//go:build integration

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"roomgate/agent"
	"roomgate/agent/update"
)

// updateKills is how often the gateway is killed while it is updated.
const updateKills = 100

// supervised is a gateway that is started again whenever it has ended.
type supervised struct {
	t      *testing.T
	dir    string
	listen string // empty: anywhere
	proc   *exec.Cmd
	gone   chan error
}

func (g *supervised) command(args ...string) *exec.Cmd {
	c := exec.CommandContext(g.t.Context(), "roomgate", args...)
	c.Dir, c.Env = g.dir, append(os.Environ(), "TEST_VERSION=1.0.0", "GORACE=atexit_sleep_ms=0")
	return c
}

func (g *supervised) start() {
	g.proc, g.gone = g.command("run", "--config", "gateway.yaml", "--data", "data", "--listen", cmp.Or(g.listen, "127.0.0.1:0")), make(chan error, 1)
	if err := g.proc.Start(); err != nil {
		g.t.Fatal(err)
	}
	go func(c *exec.Cmd, gone chan error) { gone <- c.Wait() }(g.proc, g.gone)
}

// keep starts the gateway again if it has ended.
func (g *supervised) keep() {
	select {
	case <-g.gone:
		g.start()
	default:
	}
}

func (g *supervised) kill() {
	_ = g.proc.Process.Kill() // it may have ended just now
	<-g.gone
	g.start()
}

// answers waits until a gateway runs, whichever it is.
func (g *supervised) answers() (u update.Status) {
	g.t.Helper()
	awaitThat(g.t, "a gateway answers", func() bool {
		g.keep()
		out, err := g.command("update", "status", "--data", "data", "--output", "json").Output()
		return err == nil && json.Unmarshal(out, &u) == nil
	})
	return u
}

// install has a bundle installed; done tells when that has come to an end.
func (g *supervised) install(name string) (done <-chan error) {
	ended := make(chan error, 1)
	c := g.command("update", "--now", "--again", name, "--data", "data")
	go func() { ended <- c.Run() }()
	return ended
}

// bundle makes one of a script that stands for a binary: large, so that kills meet
// its writing.
func (g *supervised) bundle(version string, key string) string {
	private, err := update.ReadKey(key)
	if err != nil {
		g.t.Fatal(err)
	}
	text := []byte("#!/bin/sh\nTEST_VERSION=" + version + " exec roomgate \"$@\"\n")
	for i := range 400_000 {
		text = fmt.Appendf(text, "# %d %d\n", i, rand.Uint64())
	}
	m := update.Manifest{Version: version, OS: runtime.GOOS, Arch: runtime.GOARCH, Schema: agent.Schema, Created: time.Now()}
	var b bytes.Buffer
	if err := update.Write(&b, m, text, private); err != nil {
		g.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(g.dir, version), b.Bytes(), 0o600); err != nil {
		g.t.Fatal(err)
	}
	return version
}

// TestUpdateIsKilledAgainAndAgain kills the gateway at any moment of update after
// update: each time a whole release starts, and in the end the newest one runs.
func TestUpdateIsKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	g := &supervised{t: t, dir: shortDir(t)}
	key := filepath.Join(g.dir, "key")
	public, err := update.NewKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := "gateway: {id: test}\nclock: {trust: always}\nupdate: {trial: 1s, keys: [\"" + public + "\"]}\n"
	if err := os.WriteFile(filepath.Join(g.dir, "gateway.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	g.start()
	t.Cleanup(func() { _ = g.proc.Process.Kill(); <-g.gone })
	seen, minor, longest := map[string]int{}, 1, time.Duration(0)
	newest := g.bundle("1.1.0", key)
	var installing <-chan error
	for n := range updateKills {
		if installing == nil {
			installing = g.install(newest)
		}
		// Mostly while it comes in; now and then late enough for a trial to end well.
		limit := 400
		if n%8 == 7 {
			limit = 4000
		}
		for end := time.Now().Add(time.Duration(rand.IntN(limit)) * time.Millisecond); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			g.keep()
		}
		began := time.Now()
		g.kill()
		u := g.answers()
		longest = max(longest, time.Since(began))
		seen[u.Running]++
		if u.Running == newest && u.Trial == nil {
			minor++
			newest = g.bundle(fmt.Sprintf("1.%d.0", minor), key)
		}
		select {
		case <-installing:
			installing = nil
		case <-time.After(50 * time.Millisecond):
		}
	}
	t.Logf("%d kills; what ran after each: %v", updateKills, seen)
	awaitUpdate(t, g, newest)
	survivedAll(t, updateKills, longest)
}

// awaitUpdate installs a release in peace.
func awaitUpdate(t *testing.T, g *supervised, version string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		u := g.answers()
		switch {
		case u.Running == version && u.Trial == nil:
			return
		case u.Trial == nil && u.Next == "":
			<-g.install(version)
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s does not run after a minute in peace: %+v", version, g.answers())
}
