package api

import (
	"encoding/json"
	"testing"

	"roomgate/agent/health"
)

// A heartbeat names the releases that the last start passed over, as described.
func TestHeartbeatNamesWhatWasNotStarted(t *testing.T) {
	s := parseAsync(t)
	text, err := json.Marshal(health.Report{DoorOrders: health.DoorsSigned, SigningKeys: []string{}, NotStarted: []health.NotStarted{{Version: "1.2.0", Reason: "no signature is kept beside it"}}})
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	if v["releases_not_started"] == nil {
		t.Errorf("%s names none", text)
	}
	if err := s.valid(s.at(s.root, "components", "schemas", "Heartbeat"), v, "heartbeat"); err != nil {
		t.Error(err)
	}
}
