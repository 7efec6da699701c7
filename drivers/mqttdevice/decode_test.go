package mqttdevice

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"roomgate/drivers"
)

// line is one of a testdata file.
type line struct{ topic, payload string }

func lines(t testing.TB, name string) (all []line) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for l := range bytes.Lines(data) {
		topic, payload, ok := strings.Cut(strings.TrimSuffix(string(l), "\n"), " ")
		if !ok {
			t.Fatalf("%s: %q has no payload", name, l)
		}
		all = append(all, line{topic, payload})
	}
	return all
}

// told writes facts in one line, sorted.
func told(facts []fact, err error) string {
	if err != nil {
		return "error"
	}
	var all []string
	for _, f := range facts {
		switch {
		case f.err != nil:
			all = append(all, f.name+"?")
		case f.text != "":
			all = append(all, f.name+"="+f.text)
		case slices.Contains([]string{aliveIs, wholeIs, roundIs}, f.name):
			all = append(all, f.name)
		default:
			all = append(all, fmt.Sprintf("%s=%.4g", f.name, f.number))
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// hearing is what each line of a file tells each kind of device.
type hearing struct {
	file, dialect, of string
	spot              spot
	want              []string
}

var hearings = []hearing{
	{"zigbee2mqtt-2.txt", "zigbee2mqtt", drivers.TypeLight, spot{Place: Place{Topic: "zigbee2mqtt/x"}}, []string{
		"bridge=online", "bridge=offline", "bridge=online", "device=offline", "device=online",
		"level=85 power=on", "level=100 link_quality=120 power=off", "link_quality=54 power=on",
		"battery=100 link_quality=87 power?", "power?", "power?", "", "", "link_quality=142", "",
		"humidity=44.72", "battery=97 humidity=41 link_quality=110", "", "battery=100 link_quality=72", "",
	}},
	{"zigbee2mqtt-2.txt", "zigbee2mqtt", drivers.TypeLock, spot{Place: Place{Topic: "zigbee2mqtt/x"}}, []string{
		"bridge=online", "bridge=offline", "bridge=online", "device=offline", "device=online",
		"bolt?", "bolt? link_quality=120", "bolt? link_quality=54",
		"battery=100 bolt=closed link_quality=87", "bolt=open", "bolt?", "", "", "link_quality=142", "",
		"humidity=44.72", "battery=97 humidity=41 link_quality=110", "", "battery=100 link_quality=72", "",
	}},
	{"zigbee2mqtt-2.txt", "zigbee2mqtt", drivers.TypeFan, spot{Place: Place{Topic: "zigbee2mqtt/x"}}, []string{
		"bridge=online", "bridge=offline", "bridge=online", "device=offline", "device=online",
		"", "link_quality=120", "link_quality=54", "battery=100 link_quality=87", "", "",
		"level=67 power=on", "level=0 power=off", "level? link_quality=142 power=on", "level? power=on",
		"humidity=44.72", "battery=97 humidity=41 link_quality=110", "", "battery=100 link_quality=72", "",
	}},
	{"zigbee2mqtt-2.txt", "zigbee2mqtt", drivers.TypeFan, spot{Place: Place{Topic: "zigbee2mqtt/x"}, speeds: 9}, []string{
		"bridge=online", "bridge=offline", "bridge=online", "device=offline", "device=online",
		"", "link_quality=120", "link_quality=54", "battery=100 link_quality=87", "", "",
		"level? power=on", "level=0 power=off", "level=78 link_quality=142 power=on", "level=22 power=on",
		"humidity=44.72", "battery=97 humidity=41 link_quality=110", "", "battery=100 link_quality=72", "",
	}},
	{"zigbee2mqtt-2.txt", "zigbee2mqtt", drivers.TypeO3, spot{Place: Place{Topic: "zigbee2mqtt/x"}}, []string{
		"bridge=online", "bridge=offline", "bridge=online", "device=offline", "device=online",
		"", "link_quality=120", "link_quality=54", "battery=100 link_quality=87", "", "", "", "", "link_quality=142", "",
		"humidity=44.72 temperature=27.34", "battery=97 humidity=41 link_quality=110 temperature=21.5",
		"occupancy=occupied", "battery=100 link_quality=72 occupancy=vacant", "occupancy=vacant",
	}},
	{"tasmota-14.txt", "tasmota", drivers.TypeLight, spot{Place: Place{Topic: "x"}}, []string{
		"device=online", "device=offline", "link_quality=100 power=off", "level=10 link_quality=74 power=on", "", "", "",
		"level=60 power=on", "", "", "", "", "power=on", "power=off", "", "", "", "",
	}},
	{"tasmota-14.txt", "tasmota", drivers.TypeLight, spot{Place: Place{Topic: "x"}, relay: 2, onOff: true}, []string{
		"device=online", "device=offline", "link_quality=100", "link_quality=74", "", "", "",
		"", "power=on", "", "", "", "", "", "", "", "", "",
	}},
	{"tasmota-14.txt", "tasmota", drivers.TypeFan, spot{Place: Place{Topic: "x"}}, []string{
		"device=online", "device=offline", "link_quality=100", "link_quality=74", "", "", "",
		"", "", "level=67 power=on", "", "", "", "", "", "", "", "",
	}},
	{"tasmota-14.txt", "tasmota", drivers.TypeO3, spot{Place: Place{Topic: "%prefix%/x"}}, []string{
		"device=online", "device=offline", "", "", "occupancy=occupied round", "humidity=58.2 round temperature=24.6", "round temperature=21.5",
		"", "", "", "occupancy=vacant", "", "", "", "humidity=27 temperature=26 whole", "", "", "",
	}},
	{"tasmota-14.txt", "tasmota", drivers.TypeO3, spot{Place: Place{Topic: "x", Name: "SHT3X"}}, []string{
		"device=online", "device=offline", "", "", "round", "round", "round", "", "", "", "", "", "", "",
		"humidity=18.9 temperature=23.78 whole", "", "", "",
	}},
	{"zigbee2mqtt-parts.txt", "zigbee2mqtt", drivers.TypeLight, spot{Place: Place{Topic: "zigbee2mqtt/x"}, endpoint: "left"}, []string{
		"link_quality=87 power=on", "", "", "", "link_quality=60", "", "power?",
	}},
	{"zigbee2mqtt-parts.txt", "zigbee2mqtt", drivers.TypeLight, spot{Place: Place{Topic: "zigbee2mqtt/x"}, endpoint: "l2"}, []string{
		"link_quality=87", "level=50 power=on", "", "", "link_quality=60", "", "",
	}},
	{"zigbee2mqtt-parts.txt", "zigbee2mqtt", drivers.TypeLight, spot{Place: Place{Topic: "zigbee2mqtt/x"}}, []string{
		"link_quality=87", "", "level=100 power=on", "power=on", "link_quality=60 power=off", "power=on", "power=on",
	}},
	{"zigbee2mqtt-parts.txt", "zigbee2mqtt", drivers.TypeFan, spot{Place: Place{Topic: "zigbee2mqtt/x"}, topSpeed: 254}, []string{
		"link_quality=87", "", "power=on", "level=50 power=on", "level=100 link_quality=60 power=off", "level? power=on", "power=on",
	}},
	{"tasmota-words.txt", "tasmota", drivers.TypeLight, spot{Place: Place{Topic: "x", StateOn: "An", StateOff: "Aus"}}, []string{
		"power=on", "power=off", "level=50 power=on", "", "power?", "", "", "", "",
	}},
	{"tasmota-words.txt", "tasmota", drivers.TypeLight, spot{Place: Place{Topic: "x", StateOn: "An", StateOff: "Aus"}, relay: 2}, []string{
		"", "", "level=100 power=off", "", "", "", "", "", "",
	}},
	{"tasmota-words.txt", "tasmota", drivers.TypeO3, spot{Place: Place{Topic: "x", StateOn: "An", StateOff: "Aus"}}, []string{
		"", "", "", "occupancy=occupied round", "", "round temperature=21.5", "round temperature=21.5", "round temperature?", "round",
	}},
	{"tasmota-words.txt", "tasmota", drivers.TypeO3, spot{Place: Place{Topic: "x", Name: "ANALOG.Temperature2"}}, []string{
		"", "", "", "round", "", "round", "round temperature=70.7", "round temperature?", "round",
	}},
	{"esphome-2025.txt", "esphome", drivers.TypeLight, spot{Place: Place{Topic: "x", Name: "y"}}, []string{
		"device=online", "device=offline", "level=50 power=on", "level=100 power=off", "power=on",
		"", "", "", "", "", "", "", "", "", "", "", "", "", "alive",
	}},
	{"esphome-2025.txt", "esphome", drivers.TypeFan, spot{Place: Place{Topic: "x", Name: "y"}, speeds: 50}, []string{
		"device=online", "device=offline", "", "", "", "power=on", "level=80", "", "", "", "", "", "", "", "", "", "", "", "alive",
	}},
	{"esphome-2025.txt", "esphome", drivers.TypeLock, spot{Place: Place{Topic: "x", Name: "y"}}, []string{
		"device=online", "device=offline", "", "", "", "", "", "bolt=closed", "bolt=open", "bolt?", "bolt?", "bolt?", "bolt?",
		"", "", "", "", "", "alive",
	}},
	{"esphome-2025.txt", "esphome", drivers.TypeO3, spot{Place: Place{Topic: "x", Name: "y"}}, []string{
		"device=online", "device=offline", "", "", "", "", "", "", "", "", "", "", "",
		"temperature=21.53", "temperature?", "temperature?", "occupancy=occupied", "occupancy=vacant", "alive",
	}},
	{"shelly-gen2.txt", "shelly", drivers.TypeLight, spot{Place: Place{Topic: "x"}}, []string{
		"device=online", "device=offline", "", "", "", "", "level=75 power=on", "whole", "whole", "", "", "",
		"level=50 power=on", "", "", "level=30 power=off", "", "",
	}},
	{"shelly-gen2.txt", "shelly", drivers.TypeFan, spot{Place: Place{Topic: "x"}}, []string{
		"device=online", "device=offline", "power=on", "power=off", "", "", "", "whole", "whole", "", "", "",
		"", "power=on", "", "power=on", "", "",
	}},
	{"shelly-gen2.txt", "shelly", drivers.TypeO3, spot{Place: Place{Topic: "x", Component: "temperature:0"}}, []string{
		"device=online", "device=offline", "", "", "", "", "", "battery=100 humidity=54.3 temperature=19.9 whole",
		"humidity=35.2 temperature=21.9 whole", "temperature?", "", "", "", "", "battery=86", "", "", "",
	}},
	{"shelly-gen2.txt", "shelly", drivers.TypeO3, spot{Place: Place{Topic: "x", Component: "input:0"}}, []string{
		"device=online", "device=offline", "", "", "", "", "", "whole", "whole", "", "occupancy=occupied", "", "", "", "", "occupancy=vacant", "", "",
	}},
}

// dialectOf makes a Shelly's answers come to where the files have them.
func (h hearing) dialectOf() dialect {
	d := dialects()[h.dialect](h.of, h.spot)
	if s, ok := d.(*shelly); ok {
		s.src = "SRC"
	}
	return d
}

// TestPublishedPayloads: what the products' documentation shows is read right,
// and what is about something else is not read at all.
func TestPublishedPayloads(t *testing.T) {
	for _, h := range hearings {
		all := lines(t, h.file)
		if len(all) != len(h.want) {
			t.Fatalf("%s of a %s: %d lines, %d wanted", h.file, h.of, len(all), len(h.want))
		}
		for i, l := range all {
			if got := told(h.dialectOf().hear(l.topic, []byte(l.payload))); got != h.want[i] {
				t.Errorf("%s of a %s, line %d:\n%s %s\ngot  %s\nwant %s", h.dialect, h.of, i+1, l.topic, l.payload, got, h.want[i])
			}
		}
	}
}

// TestOrders: the messages are those of the documentation.
func TestOrders(t *testing.T) {
	on, off := powerIs(true), powerIs(false)
	half := fact{name: level, number: 50}
	for _, c := range []struct {
		dialect, of string
		spot        spot
		order       []fact
		want        string
	}{
		{"zigbee2mqtt", drivers.TypeLight, spot{Place: Place{Topic: "z/x"}}, []fact{on, half}, `z/x/set {"brightness":127,"state":"ON"}`},
		{"zigbee2mqtt", drivers.TypeLight, spot{Place: Place{Topic: "z/x"}}, []fact{off}, `z/x/set {"state":"OFF"}`},
		{"zigbee2mqtt", drivers.TypeLight, spot{Place: Place{Topic: "z/x"}, onOff: true}, []fact{on, half}, `z/x/set {"state":"ON"}`},
		{"zigbee2mqtt", drivers.TypeFan, spot{Place: Place{Topic: "z/x"}}, []fact{on, half}, `z/x/set {"fan_mode":"medium"}`},
		{"zigbee2mqtt", drivers.TypeFan, spot{Place: Place{Topic: "z/x"}}, []fact{off}, `z/x/set {"fan_state":"OFF"}`},
		{"zigbee2mqtt", drivers.TypeFan, spot{Place: Place{Topic: "z/x"}, speeds: 9}, []fact{on, half}, `z/x/set {"fan_mode":"5"}`},
		{"zigbee2mqtt", drivers.TypeLight, spot{Place: Place{Topic: "z/x"}, endpoint: "l1"}, []fact{on, half}, `z/x/set {"brightness_l1":127,"state_l1":"ON"}`},
		{"zigbee2mqtt", drivers.TypeLight, spot{Place: Place{Topic: "z/x"}, endpoint: "right", onOff: true}, []fact{off}, `z/x/set {"state_right":"OFF"}`},
		{"zigbee2mqtt", drivers.TypeFan, spot{Place: Place{Topic: "z/x"}, topSpeed: 254}, []fact{on, half}, `z/x/set {"speed":127,"state":"ON"}`},
		{"zigbee2mqtt", drivers.TypeFan, spot{Place: Place{Topic: "z/x"}, topSpeed: 254}, []fact{off}, `z/x/set {"state":"OFF"}`},
		{"tasmota", drivers.TypeLight, spot{Place: Place{Topic: "x", StateOn: "An", StateOff: "Aus"}, relay: 2}, []fact{on, half}, `cmnd/x/Dimmer2 50`},
		{"tasmota", drivers.TypeLight, spot{Place: Place{Topic: "x", StateOn: "An", StateOff: "Aus"}}, []fact{off}, `cmnd/x/POWER OFF`},
		{"zigbee2mqtt", drivers.TypeLock, spot{Place: Place{Topic: "z/x"}}, []fact{unlocked(true)}, `z/x/set {"state":"UNLOCK"}`},
		{"tasmota", drivers.TypeLight, spot{Place: Place{Topic: "x"}}, []fact{on, half}, `cmnd/x/Dimmer 50`},
		{"tasmota", drivers.TypeLight, spot{Place: Place{Topic: "a/%prefix%/x"}, relay: 2}, []fact{off}, `a/cmnd/x/POWER2 OFF`},
		{"tasmota", drivers.TypeFan, spot{Place: Place{Topic: "x"}}, []fact{on, {name: level, number: 1}}, `cmnd/x/FanSpeed 1`},
		{"tasmota", drivers.TypeFan, spot{Place: Place{Topic: "x"}}, []fact{on}, `cmnd/x/FanSpeed 3`},
		{"tasmota", drivers.TypeFan, spot{Place: Place{Topic: "x"}}, []fact{off}, `cmnd/x/FanSpeed 0`},
		{"esphome", drivers.TypeLight, spot{Place: Place{Topic: "x", Name: "y"}}, []fact{on, half}, `x/light/y/command {"brightness":128,"state":"ON"}`},
		{"esphome", drivers.TypeFan, spot{Place: Place{Topic: "x", Name: "y"}, speeds: 4}, []fact{on, half}, `x/fan/y/speed_level/command 2; x/fan/y/command ON`},
		{"esphome", drivers.TypeLock, spot{Place: Place{Topic: "x", Name: "y"}}, []fact{unlocked(false)}, `x/lock/y/command LOCK`},
		{"shelly", drivers.TypeLight, spot{Place: Place{Topic: "x", Component: "light:2"}}, []fact{on, half},
			`x/rpc {"id":1,"method":"Light.Set","params":{"brightness":50,"id":2,"on":true},"src":"SRC"}; x/rpc {"id":1,"method":"Shelly.GetStatus","params":{},"src":"SRC"}`},
		{"shelly", drivers.TypeFan, spot{Place: Place{Topic: "x"}}, []fact{off},
			`x/rpc {"id":1,"method":"Switch.Set","params":{"id":0,"on":false},"src":"SRC"}; x/rpc {"id":1,"method":"Shelly.GetStatus","params":{},"src":"SRC"}`},
	} {
		messages, _ := hearing{"", c.dialect, c.of, c.spot, nil}.dialectOf().set(c.order)
		var got []string
		for _, m := range messages {
			got = append(got, m.Topic+" "+string(m.Payload))
		}
		if s := strings.Join(got, "; "); s != c.want {
			t.Errorf("%s %s: got %s, want %s", c.dialect, c.of, s, c.want)
		}
	}
}

// TestSteps: every level comes back as itself from scales of 100 and more, and
// is never off unless it is 0.
func TestSteps(t *testing.T) {
	for _, top := range []int{3, 100, 254, 255} {
		for p := range 101 {
			n := steps(float64(p), top)
			if (n == 0) != (p == 0) {
				t.Errorf("%d %% is step %d of %d", p, n, top)
			}
			if back := percent(float64(n), float64(top)).number; top >= 100 && back != float64(p) {
				t.Errorf("%d %% of %d comes back as %g %%", p, top, back)
			}
		}
	}
}

// FuzzHear: no message makes a dialect fail, or say what there is no such
// value of.
func FuzzHear(f *testing.F) {
	for _, h := range hearings {
		for _, l := range lines(f, h.file) {
			f.Add(l.topic, []byte(l.payload))
		}
	}
	f.Fuzz(func(t *testing.T, topic string, payload []byte) {
		for _, h := range hearings {
			facts, err := h.dialectOf().hear(topic, payload)
			if err != nil && len(facts) > 0 {
				t.Errorf("%s: facts beside an error", h.dialect)
			}
			for _, fact := range facts {
				check(t, fact)
			}
		}
	})
}

func check(t *testing.T, f fact) {
	texts := map[string][]string{
		power: {"on", "off"}, bolt: {"open", "closed"}, occupancy: {"occupied", "vacant"},
		deviceIs: {online, offline}, bridgeIs: {online, offline},
	}
	switch want, isText := texts[f.name]; {
	case f.err != nil:
	case isText && !slices.Contains(want, f.text):
		t.Errorf("%s is %q", f.name, f.text)
	case f.name == level && !(f.number >= 0 && f.number <= 100):
		t.Errorf("level is %g", f.number)
	case f.name == temperature && !(f.number >= coldest && f.number <= hottest):
		t.Errorf("temperature is %g", f.number)
	}
}
