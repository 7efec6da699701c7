package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/claim"
	"roomgate/agent/clock"
	"roomgate/agent/config"
	"roomgate/agent/eventlog"
	"roomgate/store"
)

// openClaim is the claim of a gateway that nobody has claimed, at a cloud that
// cannot be reached.
func openClaim(t *testing.T) *claim.Claim {
	t.Helper()
	db, _, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "test.db"), store.Options{Schema: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	keys, err := auth.NewKeys(auth.NewSecret())
	if err != nil {
		t.Fatal(err)
	}
	now, quiet, started := clock.New(clock.Options{Mode: clock.Always}), slog.New(slog.DiscardHandler), time.Now()
	b, err := claim.Open(t.Context(), claim.Options{DB: db, Clock: now, Keys: keys, Log: quiet, ID: "demo",
		Events: eventlog.New(eventlog.Options{DB: db, Clock: now, Rows: 100, Flush: time.Second, Log: quiet}),
		Cloud:  claim.Settings{URL: "mqtt://127.0.0.1:1", Page: "https://rooms.example.com/claim"},
		Moment: func() auth.Moment {
			return auth.Moment{Boot: "b", Up: time.Since(started), Milli: time.Now().UnixMilli(), Trusted: true}
		},
		Online: func() bool { return false }, Page: func() string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestAttachedScreenKeepsInStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openClaim(t)
		path := filepath.Join(t.TempDir(), screenFile)
		if err := os.WriteFile(path, []byte("of the run before"), 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		failed := 0
		s := screen{claim: b, name: config.Gateway{ID: "demo", Name: "House 3"}, path: path, log: slog.New(slog.DiscardHandler),
			page: func() string { return "http://192.0.2.7:8080/" }, failing: func(context.Context) int { failed++; return failed - 1 }}
		go func() { ended <- s.run(ctx) }()
		for _, later := range []time.Duration{0, 30 * time.Minute} { // another code is shown then
			time.Sleep(later + screenPoll + time.Second)
			shown, err := os.ReadFile(path)
			code := b.Status().Code
			if err != nil || !strings.HasPrefix(string(shown), cleared) || !strings.Contains(string(shown), "\nclaim code "+code+"\n") || !strings.Contains(string(shown), "▀") {
				t.Errorf("with the code %s it shows\n%s", code, shown)
			}
			if !strings.Contains(string(shown), "\ndemo, House 3: http://192.0.2.7:8080/, ") {
				t.Errorf("it does not say who and where the gateway is:\n%s", shown)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("mode %v, %v: who may log in elsewhere reads the code", info.Mode(), err)
			}
		}
		if shown, err := os.ReadFile(path); err != nil || !regexp.MustCompile(`, \d+ red lines in (sudo )?roomgate doctor\n`).Match(shown) {
			t.Errorf("after a while it shows\n%s", shown)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 0 {
			t.Errorf("at the end it leaves %v", left)
		}
	})
}

func TestAttachedScreenShowsOnlyWhatIsWaitedFor(t *testing.T) {
	for _, c := range []struct {
		claim claim.Status
		want  string
	}{
		{claim.Status{State: claim.Off}, "\x1b[H\x1b[2Jg, C\\\\D: no address in a network yet, 1 red line in roomgate doctor\n\n"},
		{claim.Status{State: claim.Done, ID: "g", Organization: "A\\B\x1b[5m"}, "\x1b[H\x1b[2Jgateway g belongs to A\\\\B?[5m since -\ng, C\\\\D: no address in a network yet, 1 red line in roomgate doctor\n\n"},
	} {
		s := screen{name: config.Gateway{ID: "g", Name: `C\D`}, page: func() string { return "" }}
		if got := strings.Replace(s.text(c.claim, 1), "sudo ", "", 1); got != c.want {
			t.Errorf("%s: %q, want %q", c.claim.State, got, c.want)
		}
	}
}

// A service that does not start says why on the attached screen, once for as long as it is
// the same; what is no service, or was stopped, says nothing there.
func TestAttachedScreenSaysWhyNothingRuns(t *testing.T) {
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "gateway.yaml")
	if err := os.WriteFile(file, []byte("gateway: {id: berlin-3}\nspaces: [{name: Atlas}, {name: 'B\\C'}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := newRun()
	if err := cmd.Flags().Set("config", file); err != nil {
		t.Fatal(err)
	}
	_, wrong := loadConfig(cmd)
	shown := func(ended error) string {
		t.Helper()
		if err := tellEnd(cmd, ended); err != nil {
			t.Fatal(err)
		}
		text, _ := os.ReadFile(filepath.Join(dir, screenFile))
		return string(text)
	}
	t.Setenv("RUNTIME_DIRECTORY", "")
	if got := shown(wrong); got != "" {
		t.Errorf("of no service: %q", got)
	}
	t.Setenv("RUNTIME_DIRECTORY", dir)
	if got := shown(nil); got != "" {
		t.Errorf("it was stopped: %q", got)
	}
	got := shown(wrong)
	if !regexp.MustCompile(`^\x1b\[H\x1b\[2Jberlin-3: .*, the gateway does not run: .*gateway\.yaml:2:10: spaces\[0\]\.id is missing: .*, and 1 more\n(sudo )?roomgate doctor says how to mend it\n\n$`).MatchString(got) {
		t.Errorf("it shows %q", got)
	}
	before, err := os.Stat(filepath.Join(dir, screenFile))
	if err != nil {
		t.Fatal(err)
	}
	shown(wrong)
	if after, err := os.Stat(filepath.Join(dir, screenFile)); err != nil || !os.SameFile(before, after) {
		t.Errorf("the same is written again: %v", err)
	}
	if got := shown(fail(exitFailed, `a\b is in use`)); !strings.Contains(got, `does not run: a\\b is in use`) {
		t.Errorf("another reason: %q", got)
	}
}
