package api

import (
	"bytes"
	"encoding/json"
	"regexp"
	"testing"

	"roomgate/agent/goldentest"
)

// changing is what differs from run to run, ids and secrets, and what drivers
// may word again.
var changing = regexp.MustCompile(`"(command_id|secret|prefix|id|summary)": "(?:[0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{26}|rg[^"]*|whsec_[^"]*|[^"]* [^"]*)"`)

// golden compares JSON with testdata/NAME.json. Times are virtual, and so
// always the same.
func golden(t *testing.T, name, body string) {
	t.Helper()
	var indented bytes.Buffer
	if err := json.Indent(&indented, []byte(body), "", "  "); err != nil {
		t.Fatalf("%s: %v in %s", name, err, body)
	}
	got := changing.ReplaceAll(append(indented.Bytes(), '\n'), []byte(`"$1": "CHANGES"`))
	goldentest.Compare(t, name+".json", got)
}

// TestMessages holds the shape of every answer: clients depend on it.
func TestMessages(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		for _, c := range []struct{ name, method, path, body string }{
			{"status", "POST", "/devices/" + aurora + "/status", `{"device_type":"lock"}`},
			{"status-all", "POST", "/devices/" + aurora + "/status", `{"device_type":"all"}`},
			{"events", "GET", "/devices/" + aurora + "/events?device_type=lock", ""},
			{"instruction", "GET", "/devices/" + aurora + "/instruction?device_type=light", ""},
			{"instruction-hub", "GET", "/devices/" + aurora + "/instruction?device_type=o3-sensor", ""},
			{"types", "GET", "/devices/types", ""},
			{"types-of-space", "GET", "/devices/types?meeting_space_id=" + borealis, ""},
			{"heartbeat", "POST", "/edge/heartbeat", `{"meeting_space_id":"` + borealis + `"}`},
			{"receipt", "POST", "/devices/" + aurora + "/action", `{"device_type":"light","action":"on"}`},
			{"problem", "POST", "/devices/" + aurora + "/action", `{"device_type":"light","action":"intensity","value":101}`},
			{"key", "POST", "/gateway/keys", `{"name":"display","expires_at":"2030-01-01T00:00:00Z"}`},
			{"keys", "GET", "/gateway/keys", ""},
			{"org-key", "POST", "/api/v1/organizations/" + auroraOrg + "/api-keys", `{"name":"app","permissions":["bookings:write","bookings:read"]}`},
			{"org-keys", "GET", "/api/v1/organizations/" + auroraOrg + "/api-keys", ""},
			{"organizations", "GET", "/api/v1/organizations", ""},
		} {
			parts := []string{}
			if c.body != "" {
				parts = append(parts, c.body)
			}
			golden(t, c.name, b.ask(c.method, c.path, parts...).body)
		}
	})
}
