package config

import (
	"errors"
	"strings"
	"testing"

	"roomgate/drivers"
	"roomgate/drivers/all"
)

// TestMisplaced: a key in the wrong place is told its right one, and is not missing there
// as well.
func TestMisplaced(t *testing.T) {
	const space = "gateway: {id: g}\nspaces:\n  - id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01\n    name: A\n"
	for _, c := range []struct{ in, want string }{
		{space + "devices:\n  - {id: a, type: light, driver: lamp}\n",
			`g.yaml:5:1: unknown key "devices": it is a key of a space: begin it in the column of the space's name`},
		{space + "    driver: lamp\n", `g.yaml:5:5: unknown key "driver" in spaces[0]: it is a key of a device: begin it in the column of the device's type`},
		{space + "    devices:\n      - {id: a, type: light, driver: lamp}\n    options:\n      intensity: 3\n",
			`g.yaml:7:5: unknown key "options" in spaces[0]: it is a key of a device: begin it in the column of the device's type`},
		{space + "    intensity: 3\n", `g.yaml:5:5: unknown key "intensity" in spaces[0]: it is an option of a device: want it below "options:", two blanks further in`},
		{"gateway:\n  id: g\n  doors: {unsigned: allow}\n", `g.yaml:3:3: unknown key "doors" in gateway: it begins in the first column`},
		{"gateway: {id: g}\ncommand_ttl: 5s\n", `g.yaml:2:1: unknown key "command_ttl": it belongs below "cloud:", two blanks further in`},
		{"gateway: {id: g}\nlisten: ':1'\n", `g.yaml:2:1: unknown key "listen": it is a key of broker, http or http.tls: begin it in the column of its neighbours there`},
		{"gateway: {id: g}\ncloud:\nurl: mqtts://c.example.com\n", `g.yaml:3:1: unknown key "url": it belongs below "cloud:" in line 2: put two blanks before it`},
		{"gateway:\nid: g\n", `g.yaml:2:1: unknown key "id": it belongs below "gateway:" in line 1: put two blanks before it`},
		{"gateway: {id: g}\nhttp:\n  tls:\n  key: k.pem\n", `g.yaml:4:3: unknown key "key" in http: it belongs below "tls:" in line 3: put two blanks before it`},
		{"gateway: {id: g}\nspaces:\n  - id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01\n    name: A\n    devices:\n      - {id: a, type: light, driver: fussy}\n    options: {line: x}\n",
			`g.yaml:7:5: unknown key "options" in spaces[0]: it is a key of a device: begin it in the column of the device's type`},
	} {
		_, err := Parse("g.yaml", []byte(c.in), append(lamps(), fussy()))
		var list *Errors
		if !errors.As(err, &list) || len(list.Problems) != 1 || list.Problems[0].String() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.in, err, c.want)
		}
	}
}

// fussy is a lamp that wants a line.
func fussy() drivers.Kind {
	return drivers.Kind{Name: "fussy", Type: drivers.TypeLight, Options: func() drivers.Options { return &fussyOptions{} }}
}

type fussyOptions struct{ lampOptions }

func (o *fussyOptions) Check() error {
	return &drivers.FieldError{Field: "line", Problem: "is missing: name the line"}
}

// TestForeignOption: an option that only another driver has is not sent to where it stands already.
func TestForeignOption(t *testing.T) {
	const head = "gateway: {id: g}\nspaces:\n  - id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01\n    name: A\n    devices:\n      - id: a\n"
	for in, want := range map[string]string{
		"        type: fan\n        driver: fan-pwm\n        options: {channel: pwmchip0/0, relay: GPIO22}\n": `g.yaml:9:40: unknown key "relay" in spaces[0].devices[0].options: fan-pwm has no relay; it takes channel, frequency, minimum, start_share, tach, pulses, min_rpm, spin_up; relay belongs to lock-relay`,
		"        type: lock\n        driver: lock-relay\n        options: {relay: GPIO17, address: 1}\n":      `g.yaml:9:34: unknown key "address" in spaces[0].devices[0].options: lock-relay has no address; it takes relay, `,
		"        type: lock\n        driver: lock-relay\n        options: {relay: GPIO17, type: 1}\n":         `g.yaml:9:34: unknown key "type" in spaces[0].devices[0].options: it is a key of a space or a device: begin it in the column of its neighbours there`,
	} {
		_, err := Parse("g.yaml", []byte(head+in), all.All())
		if message := firstMessage(err); !strings.HasPrefix(message, want) || strings.Contains(message, "below \"options:\"") {
			t.Errorf("%s\nwant %s", message, want)
		}
	}
}

// TestCopiedSpace: the id and the name of a copied space are named at once, with how to make an id.
func TestCopiedSpace(t *testing.T) {
	const space = "  - {id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01, name: A, devices: [{id: a, type: light, driver: lamp}]}\n"
	_, err := Parse("g.yaml", []byte("gateway: {id: g}\nspaces:\n"+space+space), lamps())
	want := "g.yaml:4:10: spaces[1].id is that of another space: want one of its own, cat /proc/sys/kernel/random/uuid prints a new one\n" +
		`g.yaml:4:54: spaces[1].name is "A", as spaces[0] is called: want another name, which people tell it by` + "\n" +
		`g.yaml:4:72: spaces[1].devices[0].id is "a", which another device has: want an id of its own, or another name of its room where it is made of that`
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}

// TestUnknownDriver: a driver that is none is not said to be one of another hardware that begins alike.
func TestUnknownDriver(t *testing.T) {
	const head = "gateway: {id: g}\nspaces: [{id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01, name: A, devices: [\n"
	for driver, want := range map[string]string{
		"fan-relay": `is "fan-relay": want one of fan-`, "fan-pmw": `is "fan-pmw": did you mean "fan-pwm"?`,
		"fan_shely": `is "fan_shely": did you mean "fan-shelly"?`, "fanpwm": `is "fanpwm": did you mean "fan-pwm"?`,
	} {
		_, err := Parse("g.yaml", []byte(head+"{id: a, type: fan, driver: "+driver+"}]}]"), all.All())
		if !strings.Contains(firstMessage(err), want) {
			t.Errorf("%s\nwant %s", firstMessage(err), want)
		}
	}
}
