package backend

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"roomgate/cloud"
)

// What the page says that gateways send is what a backend reads: who is online with which
// release, how the room is, which command has ended, and which rows are handed on.
func TestExamplesOfThePage(t *testing.T) {
	page, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	b, err := Open(Options{URL: "mqtt://127.0.0.1:1", ClientID: "backend"})
	if err != nil {
		t.Fatal(err)
	}
	light, err := b.wait("demo", "light-1")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^`(up/[^`]*)`[^\n]*:\n\n```json\n([^\n]*)\n```").FindAllStringSubmatch(string(page), -1) {
		j, ok := b.read(cloud.Message{Topic: "roomgate/v1/demo/" + m[1], Payload: []byte(m[2])})
		if !ok {
			t.Errorf("%s is left out", m[1])
			continue
		}
		if level, _, _ := strings.Cut(j.Level, "/"); level != j.Level && level != cloud.LevelState || !json.Valid(j.Data) {
			t.Errorf("%s has the level %s and %s", m[1], j.Level, j.Data)
		}
		b.hear(j)
		if j.Row {
			rows[j.Level] = true
		}
	}
	g, _ := b.State("demo")
	space := g.Spaces["7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01"]
	got := fmt.Sprintln(g.Online, g.Version, g.Revision, g.Backlog, space.Name, space.ScheduleRevision, len(space.Devices), g.Unlocked())
	if want := "true 1.10.0 7 3 Aurora 3 2 false\n"; got != want {
		t.Errorf("the gateway is %s: want %s", got, want)
	}
	select {
	case r := <-light.final:
		if r.State != Done || len(r.Evidence) == 0 {
			t.Errorf("the command has ended as %+v", r)
		}
	default:
		t.Error("the command has not ended")
	}
	if got, want := slices.Sorted(maps.Keys(rows)), []string{cloud.LevelBooking, cloud.LevelEvent, cloud.LevelMessage, cloud.LevelReceipt}; !slices.Equal(got, want) {
		t.Errorf("rows are %v: want %v", got, want)
	}
}
