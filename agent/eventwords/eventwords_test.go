package eventwords

import (
	"encoding/json"
	"testing"
	"time"
)

func TestKind(t *testing.T) {
	for kind, want := range map[string]string{
		"temperatureAlert": "Temperature alert", "booking.checked_in": "Booking checked in", "apiKeyCreated": "API key created", "changed": "Changed", "rule.too_warm": "Rule: too_warm",
	} {
		if got := Kind(kind); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}

// TestDetailsOfEvents: in the building's time, without what only programs use and without what says nothing.
func TestDetailsOfEvents(t *testing.T) {
	zone := time.FixedZone("here", 2*60*60)
	for given, want := range map[string]string{
		`{"booking_id":"b1","end_time":"2026-11-24T09:30:00.000Z","meeting_space_id":"x","organizer":{"name":""},"title":"Review"}`:          "end time: 11:30, title: Review",
		`{"start_time":"2026-11-25T09:30:00Z","organizer":{"email":"ada@example.org","name":"Ada"},"by":"ada","by_id":"u","by_kind":"user"}`: "by: ada, organizer: ada@example.org Ada, start time: 25 Nov 2026 11:30",
		`{"bytes":1048576,"private":true,"wait":null,"names":["a","","b"]}`:                                                                  "1 MB, names: a; b, private: yes",
	} {
		var details map[string]any
		if err := json.Unmarshal([]byte(given), &details); err != nil {
			t.Fatal(err)
		}
		if got := Details(details, false, time.Date(2026, 11, 24, 8, 0, 0, 0, time.UTC), zone); got != want {
			t.Errorf("%s: %q, want %q", given, got, want)
		}
	}
}
