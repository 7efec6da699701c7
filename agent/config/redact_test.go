package config

import (
	"strings"
	"testing"

	"roomgate/configs"
)

func TestRedact(t *testing.T) {
	lines, removed := Redact([]byte(`
# canary-comment
gateway: {id: one, name: canary-name}
http: {listen: ":8080"}
cloud: {url: "mqtts://canary-host", username: canary-user, password: "123456", heartbeat: 30s}
users:
  - {id: canary-id, email: canary@example.com, role: admin}
spaces:
  - id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01
    name: canary-room
    floor: "3"
    calendar: {url: "https://canary/feed.ics", interval: 15m}
    booking: {show_titles: true}
    devices:
      - {id: a-lock, type: lock, driver: lock-relay, poll: 2s, options: {relay: GPIO17, canary-key: canary-value, active_low: true, pin: 4711}}
`))
	for _, want := range []string{"gateway.id[1]: one", "http.listen[1]: :8080", "cloud.heartbeat[1]: 30s", "cloud.password[1]: [removed]",
		"spaces.devices.driver[1]: lock-relay", "spaces.devices.options.relay[1]: GPIO17", "spaces.devices.options.active_low[1]: true",
		"spaces.devices.options.pin[1]: [removed]", "spaces.calendar.interval[1]: 15m", "spaces.floor[1]: [removed]", "spaces.booking.show_titles[1]: true"} {
		if !strings.Contains(lines, want+"\n") {
			t.Errorf("%q is missing", want)
		}
	}
	for _, secret := range []string{"canary", "123456", "4711", "example.com"} {
		if strings.Contains(lines, secret) {
			t.Errorf("%q is in\n%s", secret, lines)
		}
	}
	if !strings.Contains(strings.Join(removed, " "), "canary-room") {
		t.Errorf("removed %v", removed)
	}
	if lines, _ := Redact([]byte("password: [canary")); lines != "" {
		t.Errorf("not YAML: %q", lines)
	}
	lines, _ = Redact(configs.Gateway)
	for _, word := range []string{"example.com", "Example", "/etc/roomgate/credentials"} {
		if strings.Contains(lines, word) {
			t.Errorf("%q of the example is in\n%s", word, lines)
		}
	}
}
