package config

import (
	"strings"
	"testing"

	"roomgate/agent/goldentest"
)

const layRoom = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01"

func laid(t *testing.T) *Config {
	t.Helper()
	c, err := Parse("file.yaml", []byte(`
gateway: {id: test}
spaces:
  - id: `+layRoom+`
    name: Aurora
    capacity: 4
    devices:
      - {id: lamp, type: light, driver: lamp, poll: 3s, options: {line: L1, limits: {low: 3, high: 7}}}
`), lamps())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLay(t *testing.T) {
	c := laid(t)
	spaces, err := c.Lay(
		Part{Name: "spaces[0]", ID: layRoom, Data: []byte(`{"name":"Aurora II"}`)},
		Part{Name: "spaces[1]", ID: "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a09", Data: []byte(`{"name":"Corona","timezone":"Europe/Berlin"}`)},
		Part{Name: "devices[0]", SpaceID: layRoom, ID: "lamp", Data: []byte(`{"options":{"limits":{"high":9}}}`)},
		Part{Name: "devices[1]", SpaceID: "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a09", ID: "lamp-2", Data: []byte(`{"type":"light","driver":"lamp","options":{"line":"L2"}}`)},
	)
	if err != nil {
		t.Fatal(err)
	}
	if len(spaces) != 2 {
		t.Fatalf("the spaces are %+v", spaces)
	}
	goldentest.Values(t, "the spaces", goldentest.Pairs{"Name": {spaces[0].Name, "Aurora II"},
		"Capacity": {spaces[0].Capacity, 4}, "Timezone": {spaces[1].Timezone, "Europe/Berlin"}, "SlotSize": {spaces[1].SlotSize, 15}})
	lamp, second := spaces[0].Devices[0], spaces[1].Devices[0]
	if o := lamp.Options.(*lampOptions); o.Line != "L1" || o.Limits.Low != 3 || o.Limits.High != 9 || lamp.Poll.Seconds() != 3 {
		t.Errorf("what was not named of the lamp has changed: %+v, %+v", lamp, o)
	}
	if second.ID != "lamp-2" || second.Poll.Seconds() != 5 || !second.Enabled || second.Options.(*lampOptions).Line != "L2" {
		t.Errorf("the new lamp is %+v", second)
	}
	if was := c.Spaces[0]; was.Name != "Aurora" || len(c.Spaces) != 1 || was.Devices[0].Options.(*lampOptions).Limits.High != 7 {
		t.Errorf("the configuration itself has changed: %+v", was)
	}
}

func TestLayNamesTheField(t *testing.T) {
	tests := map[string]struct {
		part Part
		key  string
		want string
	}{
		"range":         {Part{Name: "spaces[0]", ID: layRoom, Data: []byte(`{"capacity":-1}`)}, "spaces[0].capacity", "out of range"},
		"devices":       {Part{Name: "spaces[0]", ID: layRoom, Data: []byte(`{"devices":[]}`)}, "spaces[0].devices", "as a device of its own"},
		"no name":       {Part{Name: "spaces[3]", ID: "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a09", Data: []byte(`{}`)}, "spaces[3].name", "name that people use"},
		"no space":      {Part{Name: "devices[0]", SpaceID: "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a09", ID: "x", Data: []byte(`{}`)}, "devices[0]", "not a meeting space"},
		"driver":        {Part{SpaceID: layRoom, ID: "x", Data: []byte(`{"type":"light","driver":"lmap"}`)}, "driver", `driver is "lmap": did you mean "lamp"?`},
		"option":        {Part{SpaceID: layRoom, ID: "lamp", Data: []byte(`{"options":{"lime":"L1"}}`)}, "options.lime", `nearest known key is "line"`},
		"option value":  {Part{SpaceID: layRoom, ID: "lamp", Data: []byte(`{"options":{"intensity":101}}`)}, "options.intensity", "options.intensity is out of range"},
		"file":          {Part{SpaceID: layRoom, ID: "lamp", Data: []byte(`{"options":{"password_file":"/etc/shadow"}}`)}, "options.password_file", "names files"},
		"type":          {Part{SpaceID: layRoom, ID: "lamp", Data: []byte(`{"options":{"limits":{"low":"x"}}}`)}, "options.limits.low", "want a whole number"},
		"one each type": {Part{Name: "devices[0]", SpaceID: layRoom, ID: "x", Data: []byte(`{"type":"light","driver":"lamp","options":{"line":"L2"}}`)}, "devices[0].type", "one of each type"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := laid(t).Lay(test.part)
			problems, ok := err.(*Errors)
			if !ok || problems.Problems[0].Key != test.key || !strings.Contains(problems.Problems[0].Message, test.want) ||
				strings.Contains(problems.Problems[0].Message, "spaces[0].devices") && test.key != "spaces[0].devices" {
				t.Errorf("the error is %#v", err)
			}
		})
	}
}
