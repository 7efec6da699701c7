package update

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// standing is how updates stand, in figures and in words.
func (g *running) standing() (figures, words string) {
	var b bytes.Buffer
	g.Status().WriteMetrics(&b)
	for line := range strings.Lines(b.String()) {
		if !strings.HasPrefix(line, "#") {
			figures += line
		}
	}
	return figures, strings.Join(g.Status().Lines(), "\n")
}

func (g *running) want(t *testing.T, when string, parts ...string) {
	t.Helper()
	figures, words := g.standing()
	for _, part := range parts {
		if !strings.Contains(figures, part+"\n") && !strings.Contains(words, part) {
			t.Errorf("%s: no %q in\n%s%s", when, part, figures, words)
		}
	}
}

// Each step of an update is seen in the figures and in the words, and told.
func TestStatusOfAnUpdate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := confirmed(t, "1.1.0")
		must(t, r.Told(maxNews))
		h := &house{busy: "Aurora has a meeting until 09:30"}
		g := run(t, r, h)
		g.runsOn(t, time.Minute)
		g.want(t, "nothing is done", `roomgate_update_info{running="1.1.0",other="",next="",trial=""} 1`,
			`roomgate_update_state{state="steady"} 1`, `roomgate_update_damaged 0`, "1.1.0 runs")
		must(t, r.take(t, "1.2.0"))
		g.runsOn(t, time.Minute)
		g.want(t, "it waits", `roomgate_update_info{running="1.1.0",other="",next="1.2.0",trial=""} 1`,
			`roomgate_update_state{state="waiting"} 1`, `roomgate_update_state{state="steady"} 0`,
			"1.2.0 is installed and waits: Aurora has a meeting until 09:30")
		h.is(func() { h.busy = "" })
		if ended, err := g.after(time.Minute); !ended || err != nil {
			t.Fatalf("ended %v, %v", ended, err)
		}
		r.wantStart(t, "1.2.0")
		h.is(func() { h.ready = errors.New("a lock is lost") })
		g = run(t, r.as("1.2.0"), h)
		g.runsOn(t, time.Minute)
		g.want(t, "on trial", `roomgate_update_info{running="1.2.0",other="1.1.0",next="",trial="1.2.0"} 1`,
			`roomgate_update_state{state="trial"} 1`, "1.2.0 is on trial, start 1 of 3; if it does not prove itself, 1.1.0 runs again")
		if ended, _ := g.after(15 * time.Minute); !ended {
			t.Fatal("it is kept")
		}
		g = run(t, r.as(r.start(t)), h)
		g.runsOn(t, time.Minute)
		failed := r.State().Failed
		g.want(t, "rolled back", `roomgate_update_state{state="steady"} 1`, "1.2.0 was given up: it was not healthy", "a lock is lost")
		if figures, _ := g.standing(); !strings.Contains(figures, `roomgate_update_failed_timestamp_seconds{version="1.2.0"} `) || failed.At.IsZero() {
			t.Errorf("no failure in %s", figures)
		}
		if want := Installed + " 1.2.0, " + Begun + " 1.2.0, " + Failed + " 1.2.0"; h.told() != want {
			t.Errorf("told %q, want %q", h.told(), want)
		}
	})
}

func TestStatusOfARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := confirmed(t, "1.1.0")
		must(t, r.Told(maxNews))
		h := &house{url: "https://cloud.example/old", busy: "a meeting", served: map[string][]byte{"https://cloud.example/old": bundle(t, "1.1.0")}}
		g := run(t, r, h)
		g.runsOn(t, time.Minute)
		g.want(t, "from the cloud", "the last bundle was not taken: 1.1.0 is not newer than 1.1.0, which runs: get a newer release (from https://cloud.example/old)")
		if figures, _ := g.standing(); !strings.Contains(figures, `roomgate_update_refused_timestamp_seconds{cause="old"} `) {
			t.Errorf("no refusal in %s", figures)
		}
		must(t, r.take(t, "1.2.0"))
		if _, words := g.standing(); strings.Contains(words, "not taken") {
			t.Errorf("a bundle that was taken later leaves %s", words)
		}
		g.runsOn(t, time.Minute)
		if h.told() != NotTaken+" , "+Installed+" 1.2.0" {
			t.Errorf("told %q", h.told())
		}
	})
}

// A bundle for which there is no room is neither forgotten nor told again and
// again.
func TestRefusalThatPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReleases(t)
		h := &house{url: "https://cloud.example/new", busy: "a meeting", served: map[string][]byte{"https://cloud.example/new": bundle(t, "1.2.0")}}
		var full atomic.Bool
		full.Store(true)
		h.probe = func(context.Context, *Program, Manifest) error {
			if full.Load() {
				return refuse(DiskFull, "the disk is full")
			}
			return nil
		}
		g := run(t, r, h)
		g.runsOn(t, 10*time.Hour)
		if h.told() != NotTaken+" " || r.State().Refused == nil {
			t.Errorf("told %q", h.told())
		}
		full.Store(false)
		g.runsOn(t, 2*time.Hour)
		if s := r.State(); s.Next == nil || s.Refused != nil || h.told() != NotTaken+" , "+Installed+" 1.2.0" {
			t.Errorf("%+v, told %q", s, h.told())
		}
	})
}

func TestStatusOfADamagedState(t *testing.T) {
	r := confirmed(t, "1.1.0")
	must(t, os.WriteFile(filepath.Join(r.Dir, stateFile), []byte("{"), 0o600))
	var b bytes.Buffer
	s := r.Status()
	s.WriteMetrics(&b)
	if !strings.Contains(b.String(), "roomgate_update_damaged 1\n") || !strings.Contains(strings.Join(s.Lines(), "\n"), "cannot read which release runs, taking that of the last confirmation") {
		t.Errorf("%s%s", &b, s.Lines())
	}
}

// TestWaiting: people see in a few words which update waits.
func TestWaiting(t *testing.T) {
	for want, u := range map[string]Status{
		"":                           {Running: "1.4.0"},
		"an update is on trial":      {Trial: &Trial{}, Next: "1.6.0"},
		"1.5.0 waits: a meeting":     {Next: "1.5.0", Waits: "a meeting", Failed: &Failure{}},
		"1.5.0 is about to be tried": {Next: "1.5.0"},
		"an update is being fetched": {Fetch: &Fetching{}},
		"the last update was given up: see roomgate update status": {Failed: &Failure{}},
	} {
		if got := u.Waiting(); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}
