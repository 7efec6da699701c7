package light

import (
	"testing"

	"roomgate/drivers"
	"roomgate/drivers/drivertest"
	"roomgate/drivers/sim"
)

func TestConformance(t *testing.T) {
	lamp := &sim.Lamp{}
	set := func(change func(*Options)) func(drivers.Options) {
		return func(o drivers.Options) { change(o.(*Options)) }
	}
	drivertest.Run(t, drivertest.Case{
		Kind: Kind(),
		Options: func() drivers.Options {
			o := Kind().Options().(*Options)
			o.Channel, o.Minimum = "lamp", 0.1
			return o
		},
		Parts: func() []sim.Part {
			lamp = &sim.Lamp{PWM: "lamp"}
			return []sim.Part{lamp}
		},
		Bad: []drivertest.Bad{
			{Field: "channel", Change: set(func(o *Options) { o.Channel = "" })},
			{Field: "frequency", Change: set(func(o *Options) { o.Frequency = 0 })},
			{Field: "minimum", Change: set(func(o *Options) { o.Minimum = 1 })},
		},
		Safe:     map[string]float64{"lamp": 0},
		Blocking: true, // a pwm channel takes no context
		Confirm: func(t *testing.T, c drivers.Command, s drivers.Status) {
			if lit := lamp.Brightness() > 0; drivers.OnOff(lit) != s.Value {
				t.Errorf("%s: told as %s, the lamp is at %g", c.Action, s.Value, lamp.Brightness())
			}
		},
	})
}
