package engine

import (
	"strings"
	"testing"
	"time"

	"roomgate/agent/rule"
	"roomgate/drivers"
)

var withLock = strings.Replace(building, "    name: Borealis\n    devices:\n",
	"    name: Borealis\n    devices:\n      - {id: door-1, type: lock, driver: scripted-lock, poll: 2s, timeout: 1s, options: {name: door-1}}\n", 1)

// TestNoRuleOpensADoorByARuleOfOthers: a rule of the building that hears an event by its name opens no door in a space of others
// for a tenant who raises that event by a rule of his own.
func TestNoRuleOpensADoorByARuleOfOthers(t *testing.T) {
	for what, c := range map[string]struct {
		by, owner string // of the rule, of the space with the door
		want      int
	}{
		"by a tenant":              {org, "other", 0},
		"by a tenant in nobody's":  {org, "", 0},
		"by the building":          {"", "other", 1},
		"by who has the door, too": {org, org, 1},
	} {
		t.Run(what, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := openRig(t, rigOptions{yaml: withLock})
				r.owners = map[string]string{room: org, otherRoom: c.owner}
				r.addRule(rule.Rule{Name: "theirs", SpaceID: room, OrganizationID: c.by, Trigger: rule.Trigger{Event: "occupancyChanged"}, Actions: []rule.Action{{Event: "guest"}}})
				r.addRule(rule.Rule{Name: "welcome", AllowDoor: true, Trigger: rule.Trigger{Event: rule.OwnEvent + "guest"}, Actions: []rule.Action{{SpaceID: otherRoom, DeviceType: drivers.TypeLock, Action: drivers.ActOpen}}})
				r.run()
				r.wait(5 * time.Second)
				r.happens("occupancyChanged")
				r.wait(5 * time.Second)
				if got := len(r.bench["door-1"].Effects()); got != c.want {
					t.Errorf("opened %d times, want %d", got, c.want)
				}
			})
		})
	}
}
