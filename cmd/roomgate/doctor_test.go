package main

import (
	"testing"

	"roomgate/agent/doctor"
)

// At a terminal a fail is red, and a fix is one line, from which a command can be copied.
func TestFindingLines(t *testing.T) {
	all := []doctor.Finding{{Name: "kernel", State: doctor.OK, Seen: "Linux 6.1"},
		{Name: "atlas lock", State: doctor.Fail, Seen: "offline: \x1b[2J", Fix: "sudo systemctl restart roomgate"}}
	if got, want := findingLines(all, false), "ok    kernel: Linux 6.1\nfail  atlas lock: offline: ?[2J\n  fix: sudo systemctl restart roomgate\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := findingLines(all[1:], true), "\x1b[31mfail\x1b[0m  atlas lock: offline: ?[2J\n  fix: sudo systemctl restart roomgate\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
