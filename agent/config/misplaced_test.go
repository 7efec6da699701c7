package config

import (
	"errors"
	"testing"

	"roomgate/drivers"
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
