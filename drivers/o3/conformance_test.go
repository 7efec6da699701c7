package o3_test

import (
	"testing"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/drivertest"
	"roomgate/drivers/o3"
	"roomgate/drivers/sim"
	"roomgate/drivers/sim/peers"
)

const address = "10.0.0.7:1883"

func hub() *peers.O3 { return &peers.O3{Address: address, Username: "user", Password: "secret"} }

func options() *o3.Options {
	o := o3.Kind().Options().(*o3.Options)
	o.Address, o.Password = address, "secret"
	return o
}

func TestConformance(t *testing.T) {
	for name, change := range map[string]func(*peers.O3){
		"usual":              func(*peers.O3) {},
		"text and degrees F": func(h *peers.O3) { h.Text, h.Fahrenheit = true, true },
	} {
		t.Run(name, func(t *testing.T) {
			drivertest.Run(t, drivertest.Case{
				Kind:    o3.Kind(),
				Options: func() drivers.Options { return options() },
				Parts: func() []sim.Part {
					h := hub()
					change(h)
					return []sim.Part{h}
				},
				Reports:  true,
				Silences: silences(),
				Bad:      bad(),
			})
		})
	}
}

// silences are how a value ends while the hub goes on about the others.
func silences() (all []drivertest.Silence) {
	for _, c := range []struct{ sub, names string }{
		{drivers.SubTemperature, "occupantTemperature"}, {drivers.SubOccupancy, "combinedOccupancy"},
		{drivers.SubBuzzer, "soundfile"}, {drivers.SubRing, "lightring"},
	} {
		all = append(all,
			drivertest.Silence{Sub: c.sub, By: "null", Within: 10 * time.Second, Names: c.names},
			drivertest.Silence{Sub: c.sub, By: "missing", Within: 5*time.Minute + 10*time.Second, Names: c.names})
	}
	return all
}

func bad() []drivertest.Bad {
	field := func(name string, change func(*o3.Options)) drivertest.Bad {
		return drivertest.Bad{Field: name, Change: func(o drivers.Options) { change(o.(*o3.Options)) }}
	}
	return []drivertest.Bad{
		field("address", func(o *o3.Options) { o.Address = "" }),
		field("address", func(o *o3.Options) { o.Address = "10.0.0.7" }),
		field("address", func(o *o3.Options) { o.Address = ":1883" }),
		field("address", func(o *o3.Options) { o.Address = "hub:0" }),
		field("password_file", func(o *o3.Options) { o.PasswordFile = "/run/secret" }),
		field("prefix", func(o *o3.Options) { o.Prefix = "a/#" }),
		field("prefix", func(o *o3.Options) { o.Prefix = "a/" }),
		field("temperature", func(o *o3.Options) { o.Temperature = "occupanttemperature" }),
		field("occupancy", func(o *o3.Options) { o.Occupancy = "" }),
		field("idle_sound", func(o *o3.Options) { o.Idle = "" }),
		field("silence", func(o *o3.Options) { o.Silence = 0 }),
		field("timeout", func(o *o3.Options) { o.Timeout = time.Hour }),
		field("stale.occupancy", func(o *o3.Options) { o.Stale.Occupancy = -1 }),
		field("stale.ring-light", func(o *o3.Options) { o.Stale.Ring = 48 * time.Hour }),
	}
}
