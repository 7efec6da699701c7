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
		head + "        id: door\n" + door + second:                                           `g.yaml:4:9: not YAML: no dash is here: every device starts with "- " on a line of its own`,
		head + "\n      # the door\n      driver: lock-relay\n        options:\n":             `g.yaml:6:7: not YAML: no dash is here: every device starts with "- " on a line of its own`,
		head + "      {id: door, driver: lock-relay}\n      - {id: fan, driver: fan-relay}\n": `g.yaml:4:7: not YAML: no dash is here: every device starts with "- " on a line of its own`,
		head + "      - {id: door, driver: lock-relay}\n      {id: fan, driver: fan-relay}\n": `g.yaml:5:7: not YAML: no dash is here: every device starts with "- " on a line of its own`,
		"gateway: {id: g}\nspaces:\n  name: Atlas\n  - name: Berlin\n":                        `g.yaml:3:3: not YAML: no dash is here: every space starts with "- " on a line of its own`,
		"spaces:\n  - name: Atlas\n    devices: - driver: lock-relay\n":                       `g.yaml:3:14: not YAML: a dash is in the line of devices: every device starts with "- " on a line of its own`,
		"broker:\n  users:\n    name: a\n    - name: b\n":                                     `g.yaml:3:5: not YAML: no dash is here: every user starts with "- " on a line of its own`,
		"spaces: - name: Atlas\n":               `g.yaml:1:9: not YAML: a dash is in the line of spaces: every space starts with "- " on a line of its own`,
		"http:\n  names: - a\n":                 `g.yaml:2:10: not YAML: no list can begin here: begin each of its items with "- " on a line of its own`,
		"spaces:\ncloud:\n  url: a\n   rate: 1": `g.yaml:4:8: not YAML: no key can stand here`,
		"spaces: [{devices: {}}]\nusers: # none\n  - name: a\ncloud:\n  url: a\n   r: 1": `g.yaml:6:5: not YAML: no key can stand here`,
	} {
		if _, err := Parse("g.yaml", []byte(in), lamps()); !strings.HasPrefix(firstMessage(err), want) {
			t.Errorf("%s says\n%s\nwant\n%s", in, firstMessage(err), want)
		}
	}
}

// TestNearKey leaves out the blank behind a colon, or the colon.
func TestNearKey(t *testing.T) {
	for in, want := range map[string]string{
		"gateway:\n  id:berlin-3\n":                            `g.yaml:2:3: gateway is a single value: want keys with values: a blank is missing behind the colon of id`,
		"gateway: {id: g}\ncloud:\n  url mqtt://a\n":           `g.yaml:3:3: cloud is a single value: want keys with values: a colon is missing behind url`,
		"gateway: {id: g}\ncloud:\n  hunter2:xyz\n":            `g.yaml:3:3: cloud is a single value: want keys with values`,
		"gateway: {id: g}\ncloud: \"url x\"\n":                 `g.yaml:2:8: cloud is a single value: want keys with values`,
		"gateway: {id: g}\nspaces:\n  - name Atlas\n":          `g.yaml:3:5: spaces[0] is a single value: want keys with values: a colon is missing behind name`,
		"gateway:\n  id: g\n  name: \"a\"\n  # \x1b[31m red\n": `g.yaml:4:5: not YAML: a control character is here, which an editor may not show: delete it`,
	} {
		if _, err := Parse("g.yaml", []byte(in), lamps()); firstMessage(err) != want {
			t.Errorf("%s says\n%s\nwant\n%s", in, firstMessage(err), want)
		}
	}
}

// TestHidden refuses in texts what HTTP refuses in them.
func TestHidden(t *testing.T) {
	const hidden = "it holds a character that nobody sees, as a terminal obeys it or as it turns text round: take it out"
	for in, want := range map[string]string{
		`gateway: {id: g, name: "B\e]0;pwn\a"}`:                                     `g.yaml:1:24: gateway.name is "B\x1b]0;pwn\a": ` + hidden,
		`gateway: {id: g, name: "B\u202Ex"}`:                                        `g.yaml:1:24: gateway.name is "B\u202ex": ` + hidden,
		`gateway: {id: g, name: "B\nC"}`:                                            `g.yaml:1:24: gateway.name is "B\nC": want it in one line, without tabs`,
		strings.Replace(space, "name: Aurora", `name: "Au\e[31mlas"`, 1):            `: spaces[0].name is "Au\x1b[31mlas": ` + hidden,
		"gateway: {id: g}\ncloud: {username: \"a\\e\", url: \"mqtts://a.example\"}": hidden,
	} {
		_, err := Parse("g.yaml", []byte(in), lamps())
		if !strings.HasSuffix(firstMessage(err), want) {
			t.Errorf("%s says\n%s\nwant\n%s", in, firstMessage(err), want)
		}
	}
	if _, err := Parse("g.yaml", []byte("gateway: {id: g, name: \"Büro 東京 مكتب\"}"), lamps()); err != nil {
		t.Error(err)
	}
}
