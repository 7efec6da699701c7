package eventwords

import (
	"encoding/json"
	"testing"
	"time"
)

// TestSentences: each says what people want to know, without ids and names of fields.
func TestSentences(t *testing.T) {
	zone := time.FixedZone("here", 2*60*60)
	for _, c := range [][3]string{
		{"booking.created", `{"booking_id":"door-62f1","end_time":"2026-11-24T09:30:00Z","start_time":"2026-11-24T09:00:00Z","organization_id":"7c0b","revision":2,"source":"walk_up","title":"Review"}`,
			"11:00 to 11:30, “Review”, walked in"},
		{"commandCompleted", `{"action":"on","command_id":"http-1","state":"done","value":"on","via":"http"}`, "on: done, it is on, ordered by http"},
		{"commandCompleted", `{"action":"open","state":"failed","reason":"no answer"}`, "open: failed, no answer"},
		{"statusChanged", `{"value":"on","previous":"off","status":"online"}`, "It is on, was off"},
		{"deviceOffline", `{"value":"","status":"offline","reason":"no answer"}`, "It is away: no answer"},
		{"deviceOnline", `{"value":"","status":"online"}`, "It answers"},
		{"temperatureAlert", `{"temperature":29.5,"low":16,"high":28}`, "It is 29.5 °C, its range is 16 to 28 °C"},
		{"doorForced", `{"door":"ajar"}`, "It was opened while it was locked"},
		{"edgeRegistered", `{"edge_device_id":"e1","name":"Tablet","kind":"display"}`, "Tablet, a display"},
		{"apiKeyCreated", `{"key_id":"k1","name":"app"}`, "“app”"},
		{"ruleRan", `{"rule_id":"r1","name":"Lights off","outcome":"done"}`, "“Lights off”, outcome: done"},
		{"problemReported", `{"problem":"air","by":"page at the door","devices":{"lock":"closed","light":"","o3-sensor temperature":"29.5"}}`, "Too warm, too cold, air, from page at the door: lock closed; o3-sensor temperature 29.5"},
		{"userDeleted", `{"user_id":"u1"}`, ""},
	} {
		var details map[string]any
		if err := json.Unmarshal([]byte(c[1]), &details); err != nil {
			t.Fatal(err)
		}
		if got := Sentence(c[0], details, time.Date(2026, 11, 24, 8, 0, 0, 0, time.UTC), zone); got != c[2] {
			t.Errorf("%s: %q, want %q", c[0], got, c[2])
		}
	}
}
