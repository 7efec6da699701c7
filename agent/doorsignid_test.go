package agent

import (
	"fmt"
	"slices"
	"testing"
	"time"

	rules "roomgate/agent/rule"
)

// TestTheCloudTakesNoIDOfTheBuilding: which id the next command of a rule has can be told, and whoever takes it first, be it
// by a message that is refused, would keep the rule from its command.
func TestTheCloudTakesNoIDOfTheBuilding(t *testing.T) {
	light := `{"meeting_space_id":"` + room + `","device_type":"light","action":"on"}`
	for what, data := range map[string]string{"command": light, "unknown": `{"meeting_space_id":"` + room + `","device_type":"stove","action":"on"}`,
		"broken": `{"meeting_space_id":7}`, "config": `{"revision":0}`, "schedule": `{"kind":"none"}`} {
		t.Run(what, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r, last := startRuled(t, "refuse", rules.Rule{Name: "lock", SpaceID: otherRoom, Trigger: rules.Trigger{Time: "2 * * * *"},
					Actions: []rules.Action{{DeviceType: "lock", Action: "close"}}})
				r.bench["door-1"].show("", "open")
				id, level := fmt.Sprintf("rule-%s-t20000101T0002-%s-0", last, otherRoom), what
				if what != "config" && what != "schedule" {
					level = "command"
				}
				r.down(level, id, data, time.Now())
				r.down("command", "http-0123", light, time.Now())
				r.wait(5 * time.Minute)
				if got := r.outcome(id); what == "command" && got != "rejected invalid id" || got == "none" {
					t.Errorf("the message: %s", got)
				}
				if got := r.outcome("http-0123"); got != "rejected invalid id" {
					t.Errorf("as one who asks over HTTP: %s", got)
				}
				if got := r.bench["door-1"].effects(); !slices.Equal(got, []string{"close"}) || len(r.bench["light-1"].effects()) != 0 {
					runs, _ := r.Rules.Runs(last)
					t.Errorf("the lock did %q, the light %q: %s", got, r.bench["light-1"].effects(), fmt.Sprint(runs))
				}
			})
		})
	}
}
