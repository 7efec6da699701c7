package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"roomgate/agent/config"
	"roomgate/agent/goldentest"
	"roomgate/agent/update"
)

func TestUpdates(t *testing.T) {
	if found := updates(t.Context(), &examination{Options: Options{Building: &Building{}}}); found != nil {
		t.Errorf("of a demo: %v", found)
	}
	long := time.Now().Add(-72 * time.Hour)
	short := time.Now().Add(-time.Hour)
	trial := &update.Trial{Release: update.Release{Version: "1.2.0"}, From: "1.1.0", Tries: 1}
	for name, c := range map[string]struct {
		status    update.Status
		state     State
		seen, fix string
	}{
		"steady":        {update.Status{Running: "1.1.0", Release: true, Other: "1.0.0"}, OK, "1.1.0 runs; 1.0.0 is kept beside it", ""},
		"on trial":      {update.Status{Running: "1.2.0", Trial: trial}, OK, "1.2.0 is on trial, start 1 of 3", ""},
		"waiting":       {update.Status{Next: "1.2.0", Since: &short, Waits: "a meeting"}, OK, "1.2.0 is installed and waits: a meeting", ""},
		"waiting long":  {update.Status{Next: "1.2.0", Since: &long, Waits: "a meeting"}, Warn, "waits: a meeting", "for 3 days: if nobody is disturbed, sudo roomgate update --now"},
		"given up":      {update.Status{Failed: &update.Failure{Release: trial.Release, Reason: "no cloud"}}, Warn, "1.2.0 was given up: no cloud", "--again BUNDLE"},
		"not fetched":   {update.Status{Fetch: &update.Fetching{URL: "https://x/y", Have: 2e6, Size: 5e6, Problem: "no route"}}, Warn, "https://x/y cannot be fetched, 2.0 MB of 5.0 are here, it is tried again: no route", "firewall"},
		"arriving":      {update.Status{Fetch: &update.Fetching{URL: "https://x/y", Have: 2e6}}, OK, "the gateway fetches https://x/y, 2.0 MB are here", ""},
		"by hand":       {update.Status{Refused: &update.Refusal{Cause: update.Old, Reason: "it is old"}}, OK, "not taken: it is old", ""},
		"from afar":     {update.Status{Refused: &update.Refusal{Cause: update.WrongKey, Reason: "who signed?", URL: "https://x/y"}}, Warn, "who signed? (from https://x/y)", "update.keys"},
		"wrong machine": {update.Status{Refused: &update.Refusal{Cause: update.OtherMachine, Reason: "for arm", URL: "https://x/y"}}, Warn, "for arm", "for this machine"},
		"old from afar": {update.Status{Refused: &update.Refusal{Cause: update.Old, Reason: "old", URL: "https://x/y"}}, Warn, "old", "newer release"},
		"no room":       {update.Status{Refused: &update.Refusal{Cause: update.DiskFull, Reason: "full", URL: "https://x/y"}}, Warn, "full", "free space"},
		"torn":          {update.Status{Refused: &update.Refusal{Cause: update.Corrupt, Reason: "torn", URL: "https://x/y"}}, Warn, "torn", "on a stick"},
		"not started":   {update.Status{Running: "1.0.0", NotStarted: []update.NotStarted{{Version: "1.2.0", Reason: "no signature is kept beside it"}}}, Warn, "1.0.0 runs, which the package installed; 1.2.0 is not started: no signature is kept beside it", "roomgate update BUNDLE"},
		"next start":    {update.Status{Running: "1.2.0", Release: true, NotStarted: []update.NotStarted{{Version: "1.2.0", Reason: "who signed?"}}}, Warn, "1.2.0 runs; 1.2.0 cannot be verified for another start: who signed?", "update.keys"},
		"lost note":     {update.Status{Damaged: "it cannot be read"}, Warn, "it cannot be read", "roomgate update BUNDLE"},
	} {
		found := updates(t.Context(), &examination{Options: Options{Building: &Building{Update: &c.status}}})
		if len(found) != 1 {
			t.Fatalf("%s: %+v", name, found)
		}
		goldentest.Values(t, name, goldentest.Pairs{"Name": {found[0].Name, "update"}, "State": {found[0].State, c.state},
			"c.seen": {strings.Contains(found[0].Seen, c.seen), true}, "c.fix": {strings.Contains(found[0].Fix, c.fix), true},
			`c.fix == "" && found[0].Fix != ""`: {c.fix == "" && found[0].Fix != "", false}})
	}
}

// Without a running gateway the folder tells what became of the last update.
func TestUpdatesOfAStoppedGateway(t *testing.T) {
	x := &examination{Options: Options{Config: &config.Config{Data: t.TempDir()}}}
	if found := updates(t.Context(), x); found != nil {
		t.Errorf("no update was ever installed: %v", found)
	}
	dir := filepath.Join(x.Config.Data, update.Dir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	text := `{"current":{"version":"1.1.0"},"failed":{"version":"1.2.0","reason":"it hung","at":"2026-11-21T08:00:00Z"}}`
	if err := os.WriteFile(filepath.Join(dir, "state.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	found := updates(t.Context(), x)
	if len(found) != 1 || found[0].State != Warn || !strings.Contains(found[0].Seen, "no gateway runs; 1.1.0 is installed; 1.2.0 was given up: it hung") {
		t.Errorf("%+v", found)
	}
}
