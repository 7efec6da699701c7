package mqttdevice_test

import (
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"roomgate/drivers"
	"roomgate/drivers/drivertest"
	"roomgate/drivers/mqttdevice"
	"roomgate/drivers/sim"
	"roomgate/drivers/sim/peers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// device is a gadget with the driver that is for it.
type device struct {
	kind, product, topic string
	onOff                bool
	change               func(*mqttdevice.Options)
}

// devices are the gadgets that everything is tried with.
func devices() map[string]device {
	none := func(*mqttdevice.Options) {}
	onOff := func(o *mqttdevice.Options) { o.OnOff = true }
	named := func(o *mqttdevice.Options) { o.Name = "main" }
	return map[string]device{
		"lock-zigbee2mqtt":         {"lock", "zigbee2mqtt", "zigbee2mqtt/hall/door", false, none},
		"lock-esphome":             {"lock", "esphome", "aurora-door", false, named},
		"light-zigbee2mqtt":        {"light", "zigbee2mqtt", "zigbee2mqtt/lamp", false, none},
		"light-zigbee2mqtt on_off": {"light", "zigbee2mqtt", "zigbee2mqtt/lamp", true, onOff},
		"light-tasmota":            {"light", "tasmota", "tasmota_A1B2C3", false, none},
		"light-tasmota on_off":     {"light", "tasmota", "tasmota_A1B2C3", true, func(o *mqttdevice.Options) { o.OnOff, o.Relay = true, 1 }},
		"light-esphome":            {"light", "esphome", "aurora-lamp", false, named},
		"light-shelly":             {"light", "shelly", "shellyplus010v-3c8a1fe0a1b2", false, none},
		"light-shelly switch":      {"light", "shelly", "shelly1minig3-54320464a1d0", true, func(o *mqttdevice.Options) { o.Component = "switch:0" }},
		"fan-zigbee2mqtt":          {"fan", "zigbee2mqtt", "zigbee2mqtt/fan", false, none},
		"fan-zigbee2mqtt on_off":   {"fan", "zigbee2mqtt", "zigbee2mqtt/plug", true, onOff},
		"fan-tasmota":              {"fan", "tasmota", "ifan", false, none},
		"fan-tasmota on_off":       {"fan", "tasmota", "plug", true, onOff},
		"fan-esphome":              {"fan", "esphome", "aurora-fan", false, named},
		"fan-shelly":               {"fan", "shelly", "shellyplus1-08b61fd90730", false, none},
	}
}

func kindOf(name string) drivers.Kind {
	all := mqttdevice.Kinds()
	return all[slices.IndexFunc(all, func(k drivers.Kind) bool { return k.Name == name })]
}

func (d device) driver() drivers.Kind { return kindOf(d.kind + "-" + d.product) }

func (d device) options() *mqttdevice.Options {
	o := d.driver().Options().(*mqttdevice.Options)
	o.Topic = d.topic
	d.change(o)
	return o
}

func (d device) parts() (*peers.RoomBroker, *peers.Gadget) {
	return &peers.RoomBroker{Address: drivers.RoomBroker}, &peers.Gadget{
		Product: d.product, Kind: d.kind, Topic: d.topic, Name: d.options().Name, OnOff: d.onOff, Retain: true,
	}
}

func TestConformance(t *testing.T) {
	for name, d := range devices() {
		t.Run(name, func(t *testing.T) {
			var g *peers.Gadget
			drivertest.Run(t, drivertest.Case{
				Kind:    d.driver(),
				Options: func() drivers.Options { return d.options() },
				Parts: func() []sim.Part {
					var b *peers.RoomBroker
					b, g = d.parts()
					return []sim.Part{b, g}
				},
				Reports:  true,
				Silences: d.silences(),
				Bad:      bad(),
				Confirm: func(t *testing.T, c drivers.Command, s drivers.Status) {
					switch {
					case d.kind == "lock":
						if g.Unlocked() != (s.Value == drivers.Open) {
							t.Errorf("%s: told as %s, unlocked: %t", c.Action, s.Value, g.Unlocked())
						}
					case (g.Level() > 0) != (s.Value == drivers.On):
						t.Errorf("%s: told as %s, it gives %g %%", c.Action, s.Value, g.Level())
					}
				},
			})
		})
	}
}

// silences are how the value of a device ends while its bridge, its signal or
// its answer to a ping goes on. ESPHome speaks of a light or a fan only when it
// changes, and of none that it has lost.
func (d device) silences() []drivertest.Silence {
	o, fact := d.options(), "power"
	if d.kind == "lock" {
		fact = "bolt"
	}
	null := drivertest.Silence{By: "null", Within: 10 * time.Second, Names: fact}
	missing := drivertest.Silence{By: "missing", Within: o.Silence + 20*time.Second, Names: fact}
	switch {
	case d.product == "esphome" && d.kind == "lock":
		null.Names = "jammed"
		return []drivertest.Silence{null}
	case d.product == "esphome":
		return nil
	}
	return []drivertest.Silence{null, missing}
}

func bad() []drivertest.Bad {
	field := func(name string, change func(*mqttdevice.Options)) drivertest.Bad {
		return drivertest.Bad{Field: name, Change: func(o drivers.Options) { change(o.(*mqttdevice.Options)) }}
	}
	return []drivertest.Bad{
		field("topic", func(o *mqttdevice.Options) { o.Topic = "" }),
		field("topic", func(o *mqttdevice.Options) { o.Topic = "a/#" }),
		field("topic", func(o *mqttdevice.Options) { o.Topic = "a/" }),
		field("broker", func(o *mqttdevice.Options) { o.Broker = "room" }),
		field("password_file", func(o *mqttdevice.Options) { o.Password, o.PasswordFile = "a", "/run/secret" }),
		field("silence", func(o *mqttdevice.Options) { o.Silence = 0 }),
		field("timeout", func(o *mqttdevice.Options) { o.Timeout = time.Hour }),
		field("relay", func(o *mqttdevice.Options) { o.Relay = 33 }),
		field("speeds", func(o *mqttdevice.Options) { o.Speeds = 101 }),
	}
}
