package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// floors are the packages of the building from the ground up. Each imports only
// what is on a floor below its own, so no two of them can need each other. A new
// package is named on the lowest floor on which it stands.
var floors = [][]string{
	// Plain: they import nothing of this program.
	{"problem", "outgoing", "clock", "auth", "qr", "journal", "atomicfile", "support", "certificate",
		"device/devicetest", "mail/mailtest", "push/pushtest", "qr/qrtest", "webhook/webhooktest"},
	// Rules and formats, without state.
	{"loop", "booking", "calendar", "message", "rule", "push", "update", "devicesecret", "tlsauthority"},
	// What nouns stand on.
	{"eventlog", "config", "calendarlink", "backup", "standin"},
	// Nouns.
	{"device", "schedule", "access", "mail", "webhook", "message/book", "edge", "cloudlink", "roombroker"},
	// Nouns about other nouns.
	{"unlock", "rule/engine", "roomcontrol", "homeassistant", "setup", "site", "health", "doorsign"},
	{"seed", "claim", "cloudcommand"},
	// Who joins them: package agent itself.
	{""},
	// Who stands outside.
	{"api", "doctor", "acceptance", "agenttest"},
}

// floorOf is on which floor each package of the building is, by its path.
func floorOf() map[string]int {
	at := map[string]int{}
	for i, floor := range floors {
		for _, name := range floor {
			at[strings.TrimSuffix("agent/"+name, "/")] = i
		}
	}
	return at
}

// misplaced says which imports of a package of the building do not lead down.
func misplaced(at map[string]int, path string, imports []string) (problems []string) {
	if path != "agent" && !strings.HasPrefix(path, "agent/") {
		return nil
	}
	floor, placed := at[path]
	if !placed {
		return []string{path + " is on no floor: name it in floors, as low as it stands"}
	}
	for _, i := range imports {
		below, ours := strings.CutPrefix(i, "roomgate/")
		if !ours || below != "agent" && !strings.HasPrefix(below, "agent/") {
			continue
		}
		if its, placed := at[below]; !placed || its >= floor {
			problems = append(problems, fmt.Sprintf("%s, on floor %d, imports %s, on floor %d: imports lead down", path, floor, below, its))
		}
	}
	return problems
}

// TestFloors keeps every import of the building leading down.
func TestFloors(t *testing.T) {
	t.Parallel()
	at, packages := floorOf(), list(t)
	for _, path := range slices.Sorted(maps.Keys(packages)) {
		for _, problem := range misplaced(at, path, packages[path]) {
			t.Error(problem)
		}
	}
	for path := range at {
		if packages[path] == nil {
			t.Errorf("%s has a floor and is no package", path)
		}
	}
}

// TestFloorsBite proves that the check above can fail.
func TestFloorsBite(t *testing.T) {
	t.Parallel()
	at := floorOf()
	for _, c := range []struct {
		from, to string
		wrong    bool
	}{
		{"agent/loop", "roomgate/agent/problem", false},
		{"agent/problem", "roomgate/agent/loop", true},
		{"agent/config", "roomgate/agent/mail", true},
		{"agent/device", "roomgate/agent/schedule", true}, // side by side is how circles begin
		{"agent/unlock", "roomgate/agent/schedule", false},
		{"agent/schedule", "roomgate/agent", true},
		{"agent", "roomgate/agent/api", true},
		{"agent/api", "roomgate/agent", false},
		{"agent/api", "roomgate/drivers", false},
		{"agent/new", "roomgate/agent/problem", true},
		{"agent/device", "roomgate/agent/new", true},
		{"cmd/roomgate", "roomgate/agent/api", false},
	} {
		if found := misplaced(at, c.from, []string{c.to}); (len(found) > 0) != c.wrong {
			t.Errorf("%s -> %s: %q, refused should be %v", c.from, c.to, found, c.wrong)
		}
	}
}
