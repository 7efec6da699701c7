package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestSpaceList(t *testing.T) {
	h := newHouse(t)
	h.states[aurora] = map[string]any{"status": "occupied", "next_available_time": "2026-11-23T10:30:00.000Z",
		"current": map[string]any{"title": "Design review", "organizer": "A. Person", "start_time": "2026-11-23T09:00:00.000Z", "end_time": "2026-11-23T10:30:00.000Z"},
		"next":    map[string]any{"private": true, "start_time": "2026-11-24T09:00:00.000Z", "end_time": "2026-11-24T10:30:00.000Z"}}
	h.states[borealis] = map[string]any{"available_until": "2026-11-23T23:00:00.000Z"}
	const want = `
NAME      STATUS     NOW                        NEXT                       FREE-UNTIL  FREE-FROM  TIMEZONE       ID
Aurora    occupied   10:00-11:30 Design review  Tue 10:00-11:30 (private)  -           11:30      Europe/Berlin  a-1
Borealis  available  -                          -                          Tue 00:00   now        Europe/Berlin  b-2
`
	if got, err := h.run("space", "list"); err != nil || got != want {
		t.Errorf("%v%swant%s", err, got, want)
	}
	got, err := h.run("space", "list", "--output", "json")
	var all []struct {
		ID    string
		State struct{ Status, Ring string }
	}
	if err := errors.Join(err, json.Unmarshal([]byte(got), &all)); err != nil || len(all) != 2 || all[0].ID != aurora || all[0].State.Status != "occupied" {
		t.Errorf("%v: %s", err, got)
	}
}

func TestSpaceState(t *testing.T) {
	h := newHouse(t)
	h.states[aurora] = map[string]any{"status": "reserved", "next_available_time": "2026-11-23T10:30:00.000Z", "ring": "amber",
		"current": map[string]any{"organizer": "A. Person", "state": "booked", "start_time": "2026-11-23T09:30:00.000Z",
			"end_time": "2026-11-23T10:30:00.000Z", "check_in_until": "2026-11-23T09:40:00.000Z"}}
	h.states[borealis] = map[string]any{"status": "disabled", "time_trust": "untrusted", "ring": "off", "next_available_time": nil,
		"occupancy": map[string]any{"value": "unknown", "observed_at": nil},
		"hold":      map[string]any{"id": "h", "status": "disabled", "from": houseNow, "until": "2026-11-24T09:00:00Z", "note": "the ceiling drips"}}
	for name, want := range map[string]string{
		"aurora": `
space      Aurora
status     reserved
now        10:30-11:30 A. Person, to be checked in by 10:40
next       -
free from  11:30
occupancy  vacant, seen 12 s ago
ring       amber
clock      Mon 23 Nov 2026 10:37, Europe/Berlin
`, "borealis": `
space      Borealis
status     disabled, set until Tue 10:00: the ceiling drips
now        -
next       -
free from  -
occupancy  unknown
ring       off
clock      Mon 23 Nov 2026 10:37, Europe/Berlin, not trusted: no booking is released until it is
`} {
		if got, err := h.run("space", "state", name); err != nil || got != want {
			t.Errorf("%v%swant%s", err, got, want)
		}
	}
	h.states[aurora] = map[string]any{}
	if got, err := h.run("space", "state", "aurora"); err != nil || !strings.Contains(got, "\nstatus     available, open end\n") {
		t.Errorf("%v%s", err, got)
	}
	if got, err := h.run("space", "state", "aurora", "--output", "json"); err != nil || !strings.Contains(got, `"ring": "green"`) {
		t.Errorf("%v%s", err, got)
	}
}

// The shell is offered the names of spaces, once.
func TestCompleteSpace(t *testing.T) {
	h := newHouse(t)
	t.Setenv("ROOMGATE_URL", h.URL)
	for _, c := range []struct{ words, want string }{
		{"booking list ", "\naurora\nborealis\n:4\n"}, {"booking extend aurora ", "\n:4\n"}, {"space state ", "\naurora\nborealis\n:4\n"},
	} {
		root, out := newRoot(), strings.Builder{}
		root.SetOut(&out)
		root.SetErr(&strings.Builder{})
		root.SetArgs(append([]string{"__complete"}, strings.Split(c.words, " ")...))
		if err := root.ExecuteContext(t.Context()); err != nil || "\n"+out.String() != c.want {
			t.Errorf("%s: %v\n%s", c.words, err, out.String())
		}
	}
}
