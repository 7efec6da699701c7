package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"roomgate/drivers"
)

// hub is an O3 as far as these tests need one.
var hub = deviceRow{Type: drivers.TypeO3, Description: drivers.Description{Subs: []drivers.SubDevice{
	{Name: drivers.SubBuzzer, Actions: []drivers.Action{{Name: "beep", Params: []drivers.Param{
		{Name: "pattern", Kind: drivers.KindChoice}, {Name: "seconds", Kind: drivers.KindInteger}}}}},
	{Name: drivers.SubRing, Actions: []drivers.Action{{Name: "color", Params: []drivers.Param{{Name: "value", Kind: drivers.KindColor}}}}},
}}}

var display = deviceRow{Type: drivers.TypeDisplay, Description: drivers.Description{Actions: []drivers.Action{
	{Name: "message", Params: []drivers.Param{{Name: "value", Kind: drivers.KindText}}},
	{Name: "brightness", Params: []drivers.Param{{Name: "value", Kind: drivers.KindInteger}}},
	{Name: "refresh"},
}}}

func TestNewOrder(t *testing.T) {
	for words, want := range map[string]string{
		"buzzer beep":                          `{"device_type":"o3-sensor","sub_device":"buzzer","action":"beep"}`,
		"buzzer beep double":                   `{"device_type":"o3-sensor","sub_device":"buzzer","action":"beep","value":"double"}`,
		"buzzer beep pattern=double seconds=2": `{"device_type":"o3-sensor","sub_device":"buzzer","action":"beep","value":{"pattern":"double","seconds":2}}`,
		"buzzer beep seconds=many":             `{"device_type":"o3-sensor","sub_device":"buzzer","action":"beep","value":{"seconds":"many"}}`,
		"ring-light color #ff8800":             `{"device_type":"o3-sensor","sub_device":"ring-light","action":"color","value":"#ff8800"}`,
		"temprature on":                        `{"device_type":"o3-sensor","sub_device":"temperature","action":"on"}`,
		"explode 5":                            `{"device_type":"o3-sensor","action":"explode","value":5}`,
	} {
		o, err := newCommand(hub, strings.Fields(words))
		raw, _ := json.Marshal(o)
		if err != nil || string(raw) != want {
			t.Errorf("%s: %s, %v\nwant %s", words, raw, err, want)
		}
	}
}

// A text stays a text, whatever it looks like; a number stays a number.
func TestOrderValueIsOfTheParametersKind(t *testing.T) {
	for _, c := range []struct{ action, word, want string }{
		{"message", "42", `"42"`},
		{"message", "true", `"true"`},
		{"message", "a=b", `"a=b"`},
		{"message", `say "hi"`, `"say \"hi\""`},
		{"brightness", "42", `42`},
		{"brightness", "bright", `"bright"`}, // for the gateway to refuse
		{"refresh", `{"a":1}`, `{"a":1}`},
	} {
		o, err := newCommand(display, []string{c.action, c.word})
		if err != nil || string(o.Value) != c.want {
			t.Errorf("%s %s: %s, %v, want %s", c.action, c.word, o.Value, err, c.want)
		}
	}
}

func TestOrderIsMisused(t *testing.T) {
	for _, words := range []string{"buzzer", "buzzer beep double 2", "buzzer beep pattern=double 2", "ring-light color red green"} {
		_, err := newCommand(hub, strings.Fields(words))
		var f *fault
		if !errors.As(err, &f) || f.code != exitUsage {
			t.Errorf("%s: %v, want wrong usage", words, err)
		}
	}
}

func TestVerdict(t *testing.T) {
	for state, want := range map[string]int{"done": 0, "accepted": 0, "rejected": exitRefused, "expired": exitRefused, "failed": exitFailed, "": exitFailed} {
		err := receipt{State: state}.verdict()
		var f *fault
		if got := 0; errors.As(err, &f) {
			if got = f.code; got != want {
				t.Errorf("%q ends in %d, want %d", state, got, want)
			}
		} else if want != 0 {
			t.Errorf("%q ends in 0, want %d", state, want)
		}
	}
}

// FuzzNewCommand: whatever is typed, what is sent is JSON.
func FuzzNewCommand(f *testing.F) {
	for _, words := range []string{"buzzer beep pattern=double seconds=2", "ring-light color #ff8800", "explode {", "on 1e999"} {
		f.Add(words)
	}
	f.Fuzz(func(t *testing.T, words string) {
		list := strings.Split(words, " ")
		for _, d := range []deviceRow{hub, display} {
			o, err := newCommand(d, list)
			if err != nil {
				continue
			}
			if _, err := json.Marshal(o); err != nil {
				t.Errorf("%q: %v", words, err)
			}
		}
	})
}
