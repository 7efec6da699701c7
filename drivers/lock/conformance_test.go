package lock

import (
	"testing"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/drivertest"
	"roomgate/drivers/sim"
)

func TestConformance(t *testing.T) {
	var door *sim.Door
	set := func(change func(*Options)) func(drivers.Options) {
		return func(o drivers.Options) { change(o.(*Options)) }
	}
	drivertest.Run(t, drivertest.Case{
		Kind: Kind(),
		Options: func() drivers.Options {
			o := wired()
			o.Keypad = Keypad{"d0", "d1"}
			return o
		},
		Parts: func() []sim.Part {
			door = &sim.Door{Relay: "relay", Sense: "sense", Contact: "contact"}
			return []sim.Part{door, &sim.Keypad{D0: "d0", D1: "d1"}}
		},
		Bad: []drivertest.Bad{
			{Field: "relay", Change: set(func(o *Options) { o.Relay = "" })},
			{Field: "sense_high_means", Change: set(func(o *Options) { o.SenseHighMeans = "ajar" })},
			{Field: "contact_high_means", Change: set(func(o *Options) { o.ContactHighMeans = "open" })},
			{Field: "mode", Change: set(func(o *Options) { o.Mode = "" })},
			{Field: "relock", Change: set(func(o *Options) { o.Relock = 61 * time.Second })},
			{Field: "held_open", Change: set(func(o *Options) { o.HeldOpen = -1 })},
			{Field: "keypad.d0", Change: set(func(o *Options) { o.Keypad.D0 = "" })},
			{Field: "keypad.d1", Change: set(func(o *Options) { o.Keypad.D1 = "" })},
			{Field: "keypad.d1", Change: set(func(o *Options) { o.Keypad.D1 = "d0" })},
			{Field: "settle", Change: set(func(o *Options) { o.Settle = 0 })},
		},
		Safe:     map[string]float64{"relay": 0},
		Blocking: true, // a line takes no context
		Confirm: func(t *testing.T, c drivers.Command, s drivers.Status) {
			if door.Drawn() != (s.Value == drivers.Open) {
				t.Errorf("%s: told as %s, bolt drawn: %t", c.Action, s.Value, door.Drawn())
			}
		},
	})
}
