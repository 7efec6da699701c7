package agent

import (
	"strings"
	"testing"
	"time"

	"roomgate/agent/eventlog"
)

// That another gateway has this id is told once an hour, not with each connection.
func TestDuplicateIDIsTold(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		if r.Health().CloudContested != 0 {
			t.Error("contested without a cloud")
		}
		d := duplicateID{agent: r.Agent}
		for n := range 30 {
			d.tell(t.Context(), 5+n)
			time.Sleep(3 * time.Minute)
		}
		all, _, err := r.Events.Find(eventlog.Filter{Type: "gatewayContested"})
		if err != nil || len(all) != 2 {
			t.Fatalf("%d events, %v", len(all), err)
		}
		for _, want := range []string{`"device":"gateway"`, `"gateway_id":`, `"count":5`} {
			if !strings.Contains(string(all[0].Record)+string(all[1].Record), want) {
				t.Errorf("%s has no %s", all[0].Record, want)
			}
		}
	})
}
