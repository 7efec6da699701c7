package agent

import (
	"encoding/json"
	"testing"

	"roomgate/agent/problem"
	rules "roomgate/agent/rule"
	"roomgate/drivers"
)

// Rules see a device from the moment at which it is there, and no longer.
func TestRulesSeeTheSiteAsItIs(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{bench: moreHardware()})
		create := func() error {
			_, err := r.Rules.Create(t.Context(), rules.Rule{Name: "ring", Enabled: true, SpaceID: otherRoom, Trigger: rules.Trigger{Time: "22:00"},
				Actions: []rules.Action{{DeviceType: drivers.TypeO3, SubDevice: drivers.SubRing, Action: drivers.ActOff}}})
			return err
		}
		r.refuses("before it comes", problem.Invalid, "actions[0].device_type", create())
		document := json.RawMessage(`{"type":"o3-sensor","driver":"scripted-hub","options":{"name":"hub-2"}}`)
		if _, err := r.Site.AddDevice(t.Context(), otherRoom, "hub-2", document, "test"); err != nil {
			t.Fatal(err)
		}
		if err := create(); err != nil {
			t.Errorf("while it is there: %v", err)
		}
		if err := r.Site.RemoveDevice(t.Context(), "hub-2", "test"); err != nil {
			t.Fatal(err)
		}
		r.refuses("after it has gone", problem.Invalid, "actions[0].device_type", create())
	})
}
