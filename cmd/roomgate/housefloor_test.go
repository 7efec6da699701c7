package main

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// floors are the packages of the building from the ground up, as agent/README.md draws
// them. Each imports only what is on a floor below its own, so no two of them can need
// each other. A new package is named on the lowest floor on which it stands, so the number
// of a floor is that of the imports on the longest way down and has no other meaning. The
// uppermost has those outside: nobody in the house may need them.
var floors = [][]string{
	{"problem", "outgoing", "clock", "auth", "qr", "patch", "printable", "atomicfile", "support", "spelling", "machineuser",
		"device/devicetest", "goldentest", "journal/journaltest", "mail/mailtest", "push/pushtest", "qr/qrtest", "webhook/webhooktest"},
	{"loop", "journal", "strict", "booking", "calendar", "message", "rule", "push", "update", "devicesecret", "certificate", "device/refusal"},
	{"eventlog", "config", "calendarlink", "standin", "mail", "web", "eventwords", "tlsauthority"},
	{"device", "schedule", "access", "webhook", "message/book", "edge", "cloudlink", "roombroker", "backup", "timekeeper", "eventlog/eventlogtest"},
	{"unlock", "rule/doubt", "roomcontrol", "homeassistant", "setup", "site", "health", "cloudkey", "plot", "enrol"},
	{"rule/engine", "seed", "claim", "cloudcommand", "acceptance"},
	{"cloudconfig", "cloudpart", "errand"},
	{""}, // package agent itself
	{"console"},
	{"api", "doctor", "agenttest"},
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
		return []string{path + " is on no floor: name it in floors, as low as it stands, and in agent/README.md"}
	}
	for _, i := range imports {
		below, ours := inHouse(i)
		if its, placed := at[below]; ours && (!placed || its >= floor) {
			problems = append(problems, fmt.Sprintf("%s, on floor %d, imports %s, on floor %d: imports lead down", path, floor, below, its))
		}
	}
	return problems
}

// inHouse is the path of a package of the building.
func inHouse(imported string) (path string, ours bool) {
	path, ours = strings.CutPrefix(imported, "roomgate/")
	return path, ours && (path == "agent" || strings.HasPrefix(path, "agent/"))
}

// tooHigh says that a package would stand on a lower floor, where it may import less.
func tooHigh(at map[string]int, path string, imports []string) string {
	floor, placed := at[path]
	if !placed || floor == len(floors)-1 {
		return ""
	}
	lowest := 0
	for _, i := range imports {
		if below, ours := inHouse(i); ours {
			lowest = max(lowest, at[below]+1)
		}
	}
	if floor <= lowest {
		return ""
	}
	return fmt.Sprintf("%s is on floor %d and could stand on floor %d: move it there in floors, and in agent/README.md", path, floor, lowest)
}

// TestFloors keeps every import of the building leading down, from the lowest floor that it can.
func TestFloors(t *testing.T) {
	t.Parallel()
	at, packages := floorOf(), list(t)
	for _, path := range slices.Sorted(maps.Keys(packages)) {
		for _, problem := range misplaced(at, path, packages[path]) {
			t.Error(problem)
		}
		if problem := tooHigh(at, path, packages[path]); problem != "" {
			t.Error(problem)
		}
	}
	for path := range at {
		if _, ok := packages[path]; !ok {
			t.Errorf("%s has a floor and is no package", path)
		}
	}
}

// floorLine is a line of the drawing: number and packages.
var floorLine = regexp.MustCompile(`(?m)^ +(\d+)   (\S.*)$`)

// TestReadmeFloors keeps the drawing of agent/README.md at floors.
func TestReadmeFloors(t *testing.T) {
	t.Parallel()
	for _, problem := range misdrawn(readPage(t, "agent/README.md").section("## The house")) {
		t.Error(problem)
	}
}

// misdrawn says where a drawing differs from floors, without the packages for tests.
func misdrawn(drawing string) (problems []string) {
	lines := map[string][]string{}
	for _, line := range floorLine.FindAllStringSubmatch(drawing, -1) {
		lines[line[1]] = strings.Fields(line[2])
	}
	for i, floor := range floors {
		var want []string
		for _, name := range floor {
			if !strings.HasSuffix(name, "test") {
				want = append(want, cmp.Or(name, "agent"))
			}
		}
		if got := lines[fmt.Sprint(i)]; !slices.Equal(got, want) {
			problems = append(problems, fmt.Sprintf("agent/README.md draws %q on floor %d, floors has %q", got, i, want))
		}
	}
	if len(lines) > len(floors) {
		problems = append(problems, fmt.Sprintf("agent/README.md draws %d floors of %d", len(lines), len(floors)))
	}
	return problems
}

// TestReadmeFloorsBite proves that the check above can fail.
func TestReadmeFloorsBite(t *testing.T) {
	t.Parallel()
	right := ""
	for i, floor := range floors {
		right += fmt.Sprintf("  %d  ", i)
		for _, name := range floor {
			if !strings.HasSuffix(name, "test") {
				right += " " + cmp.Or(name, "agent")
			}
		}
		right += "\n"
	}
	for drawing, want := range map[string]int{right: 0, "": len(floors), right + " 99   attic\n": 1, strings.Replace(right, " loop", "", 1): 1} {
		if found := misdrawn(drawing); len(found) != want {
			t.Errorf("%q: %q, want %d", drawing, found, want)
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

// TestFloorsBiteAbove proves that a floor that is higher than needed is refused.
func TestFloorsBiteAbove(t *testing.T) {
	t.Parallel()
	at := floorOf()
	for _, c := range []struct {
		path    string
		imports []string
		wrong   bool
	}{
		{"agent/problem", []string{"roomgate/drivers"}, false},
		{"agent/loop", []string{"roomgate/agent/problem"}, false},
		{"agent/web", []string{"roomgate/agent/booking"}, false},
		{"agent/web", []string{"roomgate/agent/problem", "roomgate/store"}, true},
		{"agent/web", nil, true},
		{"agent", []string{"roomgate/agent/loop"}, true},
		{"agent/doctor", nil, false}, // it stands outside
		{"cmd/roomgate", nil, false},
	} {
		if found := tooHigh(at, c.path, c.imports); (found != "") != c.wrong {
			t.Errorf("%s with %q: %q, refused should be %v", c.path, c.imports, found, c.wrong)
		}
	}
}
