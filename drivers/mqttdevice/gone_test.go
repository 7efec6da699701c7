package mqttdevice

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/session"
)

// TestGone: where a product says that a value is not there, it is not there;
// another value takes its place in no case, and what stands beside it holds.
func TestGone(t *testing.T) {
	at := func(name string) spot { return spot{Place: Place{Topic: "x", Name: name}, speeds: 3} }
	z := spot{Place: Place{Topic: "z/x"}}
	shellyAt := func(component string) spot { return spot{Place: Place{Topic: "x", Component: component}} }
	for _, c := range []struct {
		dialect, of    string
		spot           spot
		topic, payload string
		want           string
	}{
		{"zigbee2mqtt", drivers.TypeO3, z, "z/x", `{"temperature":null,"occupancy":true,"humidity":40}`, "humidity=40 occupancy=occupied temperature?"},
		{"zigbee2mqtt", drivers.TypeO3, z, "z/x", `{"temperature":"unavailable","occupancy":null,"humidity":null}`, "humidity? occupancy? temperature?"},
		{"zigbee2mqtt", drivers.TypeO3, z, "z/x", `{"temperature":"","occupancy":"unknown"}`, "occupancy? temperature?"},
		{"zigbee2mqtt", drivers.TypeO3, z, "z/x", `{"temperature":"NaN","presence":null}`, "occupancy? temperature?"},
		{"zigbee2mqtt", drivers.TypeLock, z, "z/x", `{"state":null,"battery":87}`, "battery=87 bolt?"},
		{"zigbee2mqtt", drivers.TypeLight, z, "z/x", `{"state":"unavailable","brightness":null,"linkquality":7}`, "level? link_quality=7 power?"},
		{"zigbee2mqtt", drivers.TypeLight, z, "z/x", `{"state":"ON","brightness":null}`, "level? power=on"},
		{"zigbee2mqtt", drivers.TypeFan, z, "z/x", `{"fan_state":null,"fan_mode":null}`, "level? power?"},
		{"zigbee2mqtt", drivers.TypeFan, z, "z/x", `{"fan_state":"ON","fan_mode":"auto"}`, "level? power=on"},
		{"tasmota", drivers.TypeO3, at(""), "tele/x/SENSOR", `{"AM2301":{"Temperature":null,"Humidity":null},"Switch1":"ON"}`, "humidity? occupancy=occupied round temperature?"},
		{"tasmota", drivers.TypeO3, at(""), "tele/x/SENSOR", `{"AM2301":{"Temperature":null},"SI7021":{"Temperature":3.5}}`, "round temperature?"},
		{"tasmota", drivers.TypeO3, at(""), "stat/x/STATUS10", `{"StatusSNS":{"Time":"2024-02-24T22:20:38","Switch1":"OFF"}}`, "occupancy=vacant whole"},
		{"tasmota", drivers.TypeLight, at(""), "tele/x/STATE", `{"POWER":null,"Dimmer":null,"Wifi":{"RSSI":74}}`, "level? link_quality=74 power?"},
		{"tasmota", drivers.TypeFan, at(""), "tele/x/STATE", `{"FanSpeed":null}`, "level? power?"},
		{"esphome", drivers.TypeO3, at("y"), "x/sensor/y/state", "nan", "temperature?"},
		{"esphome", drivers.TypeO3, at("y"), "x/sensor/y/state", "", "temperature?"},
		{"esphome", drivers.TypeO3, at("y"), "x/sensor/y/state", "None", "temperature?"},
		{"esphome", drivers.TypeO3, at("y"), "x/binary_sensor/y/state", "unknown", "occupancy?"},
		{"esphome", drivers.TypeO3, at("y"), "x/binary_sensor/y/state", "", "occupancy?"},
		{"esphome", drivers.TypeFan, at("y"), "x/fan/y/state", "unavailable", "power?"},
		{"esphome", drivers.TypeFan, at("y"), "x/fan/y/speed_level/state", "nan", "level?"},
		{"esphome", drivers.TypeLight, at("y"), "x/light/y/state", `{"state":null,"brightness":null}`, "level? power?"},
		{"esphome", drivers.TypeLock, at("y"), "x/lock/y/state", "JAMMED", "bolt?"},
		{"esphome", drivers.TypeLock, at("y"), "x/lock/y/state", "UNKNOWN", "bolt?"},
		{"shelly", drivers.TypeO3, shellyAt("temperature:0"), "x/events/rpc",
			`{"method":"NotifyStatus","params":{"temperature:0":{"id":0,"tC":null},"humidity:0":{"id":0,"rh":null}}}`, "humidity? temperature?"},
		{"shelly", drivers.TypeO3, shellyAt("input:0"), "x/status/input:0", `{"id":0,"state":null}`, "occupancy?"},
		{"shelly", drivers.TypeLight, shellyAt("light:0"), "x/status/light:0", `{"id":0,"output":null,"brightness":null}`, "level? power?"},
		{"shelly", drivers.TypeO3, shellyAt("temperature:0"), "SRC/rpc", `{"id":1,"result":{"sys":{},"humidity:0":{"id":0,"rh":41}}}`, "humidity=41 whole"},
		{"shelly", drivers.TypeO3, shellyAt("temperature:0"), "x/events/rpc", `{"method":"NotifyFullStatus","params":{"sys":{}}}`, "whole"},
	} {
		facts, err := hearing{"", c.dialect, c.of, c.spot, nil}.dialectOf().hear(c.topic, []byte(c.payload))
		if got := told(facts, err); got != c.want {
			t.Errorf("%s %s: %s\ngot  %s\nwant %s", c.dialect, c.of, c.payload, got, c.want)
		}
		for _, f := range facts {
			if f.err != nil && !errors.Is(f.err, drivers.ErrNoValue) {
				t.Errorf("%s %s: %s: %v would wait to be believed", c.dialect, c.of, c.payload, f.err)
			}
		}
	}
}

// TestTooLarge: a message that was not read ends what it is about, which is
// named, and nothing else.
func TestTooLarge(t *testing.T) {
	now := time.Now()
	z := newPeer(newZigbee(drivers.TypeO3, spot{Place: Place{Topic: "z/x"}}), time.Hour, false)
	e := newPeer(newESPHome(drivers.TypeO3, spot{Place: Place{Topic: "x", Name: "y"}}), time.Hour, false)
	n := newNews("broker:1883", []*peer{z, e})
	n.connected()
	topics := map[*peer]string{z: "z/x", e: "x/sensor/y/state"}
	check := func(p *peer, wrong ...string) {
		t.Helper()
		for _, name := range []string{temperature, occupancy} {
			_, err := p.get(name, now)
			if slices.Contains(wrong, name) != errors.Is(err, drivers.ErrNoValue) {
				t.Errorf("%s: %v", name, err)
			}
			if err != nil && (!strings.Contains(err.Error(), topics[p]) || !strings.Contains(err.Error(), "70000 bytes")) {
				t.Errorf("%s: %v names neither topic nor size", name, err)
			}
		}
	}
	n.receive("z/x", []byte(`{"temperature":21.5,"occupancy":true}`), false)
	n.receive("x/sensor/y/state", []byte("21.5"), false)
	n.receive("x/binary_sensor/y/state", []byte("ON"), false)
	n.skipped(session.TooLarge{Topic: "z/x", Size: 70000, Retained: true})
	n.skipped(session.TooLarge{Topic: "w/x", Size: 70000})
	check(z)
	check(e)
	n.skipped(session.TooLarge{Topic: "x/sensor/y/state", Size: 70000})
	check(z)
	check(e, temperature)
	n.skipped(session.TooLarge{Topic: "z/x", Size: 70000})
	check(z, temperature, occupancy)
	check(e, temperature)
}
