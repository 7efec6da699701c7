package sim

import (
	"fmt"
	"time"

	"periph.io/x/conn/v3/physic"

	"roomgate/drivers"
)

// channel is a PWM output and the part that it feeds.
type channel struct {
	holder
	name   string
	world  *World
	faults *Faults
	share  float64 // guarded by holder.mu
	fed    func(share float64, now time.Time)
}

// feed wires a channel; fed is called with each new share of on-time.
func (w *World) feed(name string, f *Faults, fed func(share float64, now time.Time)) error {
	return place(w, w.channels, name, &channel{name: name, world: w, faults: f, fed: fed})
}

// PWM takes a channel and sets its duty to 0. The frequency must lie from
// 1 Hz to 1 MHz.
func (w *World) PWM(name string, frequency physic.Frequency) (drivers.PWM, error) {
	if frequency < physic.Hertz || frequency > physic.MegaHertz {
		return nil, fmt.Errorf("%s: frequency %s is out of range: want 1 Hz to 1 MHz", name, frequency)
	}
	c, err := find(w, w.channels, name)
	if err != nil {
		return nil, err
	}
	if err := c.take(name); err != nil {
		return nil, err
	}
	p := &pwm{grip: newGrip(&c.holder), channel: c}
	if err := p.SetDuty(0); err != nil {
		_ = p.Close()
		return nil, err
	}
	return p, nil
}

type pwm struct {
	grip
	channel *channel
}

func (p *pwm) SetDuty(share float64) error {
	c := p.channel
	if !(share >= 0 && share <= 1) { // NaN fails too
		return fmt.Errorf("%s: duty %g is out of range: want 0 to 1", c.name, share)
	}
	if err := c.faults.clean(c.name, p.closed); err != nil {
		return err
	}
	c.mu.Lock()
	c.share = share
	c.mu.Unlock()
	c.world.record(c.name, share)
	c.fed(share, time.Now())
	return nil
}

func (p *pwm) Duty() (float64, error) {
	c := p.channel
	if err := c.faults.clean(c.name, p.closed); err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.share, nil
}
