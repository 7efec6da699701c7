package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/agenttest"
	"roomgate/agent/claim"
	"roomgate/agent/config"
)

func TestAttachedScreenKeepsInStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := agenttest.Start(t, agenttest.Options{Settings: []config.Setting{
			{Key: "cloud.url", Value: "mqtt://127.0.0.1:1"}, {Key: "cloud.claim_url", Value: "https://rooms.example.com/claim"}}})
		path := filepath.Join(t.TempDir(), screenFile)
		if err := os.WriteFile(path, []byte("of the run before"), 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- screen{b.Agent, path, slog.New(slog.DiscardHandler)}.run(ctx) }()
		for _, later := range []time.Duration{0, 30 * time.Minute} { // another code is shown then
			time.Sleep(later + screenPoll + time.Second)
			shown, err := os.ReadFile(path)
			code := b.Claim.Status().Code
			if err != nil || !strings.HasPrefix(string(shown), cleared) || !strings.Contains(string(shown), "\nclaim code "+code+"\n") || !strings.Contains(string(shown), "▀") {
				t.Errorf("with the code %s it shows\n%s", code, shown)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("mode %v, %v: who may log in elsewhere reads the code", info.Mode(), err)
			}
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 0 {
			t.Errorf("at the end it leaves %v", left)
		}
		b.Stop()
	})
}

func TestAttachedScreenShowsOnlyWhatIsWaitedFor(t *testing.T) {
	for _, c := range []struct {
		claim claim.Status
		want  string
	}{
		{claim.Status{State: claim.Off}, ""},
		{claim.Status{State: claim.Done, ID: "g", Organization: "A\\B\x1b[5m"}, "\x1b[H\x1b[2Jgateway g belongs to A\\\\B?[5m since -\n\n"},
	} {
		if got := screenText(c.claim); got != c.want {
			t.Errorf("%s: %q, want %q", c.claim.State, got, c.want)
		}
	}
}
