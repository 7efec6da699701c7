package config

import (
	"strings"
	"testing"
)

// TestDash leaves a dash out, and looks for the line that lacks it.
func TestDash(t *testing.T) {
	const head, door = "spaces:\n  - name: Atlas\n    devices:\n", "        driver: lock-relay\n        options:\n          relay: GPIO17\n"
	second := "      - id: fan\n        driver: fan-relay\n"
	for in, want := range map[string]string{
		head + "        id: door\n" + door + second:                                      `g.yaml:4:9: not YAML: no dash is here: every device starts with "- " on a line of its own`,
		head + "\n      # the door\n      driver: lock-relay\n        options:\n":        `g.yaml:6:7: not YAML: no dash is here: every device starts with "- " on a line of its own`,
		"gateway: {id: g}\nspaces:\n  name: Atlas\n  - name: Berlin\n":                   `g.yaml:3:3: not YAML: no dash is here: every space starts with "- " on a line of its own`,
		"spaces:\n  - name: Atlas\n    devices: - driver: lock-relay\n":                  `g.yaml:3:14: not YAML: a dash is in the line of devices: every device starts with "- " on a line of its own`,
		"broker:\n  users:\n    name: a\n    - name: b\n":                                `g.yaml:3:5: not YAML: no dash is here: every user starts with "- " on a line of its own`,
		"spaces: - name: Atlas\n":                                                        `g.yaml:1:9: not YAML: a dash is in the line of spaces: every space starts with "- " on a line of its own`,
		"http:\n  names: - a\n":                                                          `g.yaml:2:10: not YAML: no list can begin here: begin each of its items with "- " on a line of its own`,
		"spaces:\ncloud:\n  url: a\n   rate: 1":                                          `g.yaml:4:8: not YAML: no key can stand here`,
		"spaces: [{devices: {}}]\nusers: # none\n  - name: a\ncloud:\n  url: a\n   r: 1": `g.yaml:6:5: not YAML: no key can stand here`,
	} {
		if _, err := Parse("g.yaml", []byte(in), lamps()); !strings.HasPrefix(firstMessage(err), want) {
			t.Errorf("%s says\n%s\nwant\n%s", in, firstMessage(err), want)
		}
	}
}
