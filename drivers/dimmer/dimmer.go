package dimmer

import (
	"context"
	"fmt"
	"math"
	"sync"

	"periph.io/x/conn/v3/physic"

	"roomgate/drivers"
)

// Options are the channel of a dimmer and its limits.
type Options struct {
	Channel   string  // name of the PWM channel
	Frequency float64 // Hz, 1 to 1 000 000
	Minimum   float64 // share of on-time at which the load starts, 0 to below 1
}

// Check refuses values out of range with a *drivers.FieldError whose field is
// channel, frequency or minimum.
func (o Options) Check() error {
	switch {
	case o.Channel == "":
		return &drivers.FieldError{Field: "channel", Problem: "is missing: name the pwm channel"}
	case !(o.Frequency >= 1 && o.Frequency <= 1e6): // NaN fails too
		return &drivers.FieldError{Field: "frequency", Problem: "is out of range: want 1 to 1000000 Hz"}
	case !(o.Minimum >= 0 && o.Minimum <= 0.9):
		return &drivers.FieldError{Field: "minimum", Problem: "is out of range: want a share from 0 to 0.9"}
	}
	return nil
}

// Open takes the channel, which starts off.
func (o Options) Open(ctx context.Context, b drivers.Buses) (*Dimmer, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	pwm, err := b.PWM(o.Channel, physic.Frequency(o.Frequency*float64(physic.Hertz)))
	if err != nil {
		return nil, fmt.Errorf("channel %s: %w", o.Channel, err)
	}
	return &Dimmer{channel: o.Channel, minimum: o.Minimum, pwm: pwm, last: 100}, nil
}

// Dimmer is one opened channel. Its methods may be called at the same time.
type Dimmer struct {
	channel string
	minimum float64

	mu     sync.Mutex
	pwm    drivers.PWM
	last   int // the intensity that "on" restores, 1 to 100
	closed bool
}

// Actions are the commands that a dimmer takes, in a person's words: a "light"
// is more or less "bright", a "fan" "fast".
func Actions(noun, how string) []drivers.Action {
	return []drivers.Action{
		{Name: drivers.ActOn, Summary: "switch the " + noun + " on, as " + how + " as it last was"},
		{Name: drivers.ActOff, Summary: "switch the " + noun + " off"},
		{
			Name:    drivers.ActIntensity,
			Summary: "set how " + how + " the " + noun + " is; 0 is off",
			Params: []drivers.Param{{
				Name: drivers.ValueName, Kind: drivers.KindInteger, Unit: "%", Min: 0, Max: 100,
			}},
		},
	}
}

// Wanted returns the intensity that a command asks for, in percent, or
// drivers.ErrUnsupported.
func (d *Dimmer) Wanted(c drivers.Command) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case c.Sub != "":
		return 0, drivers.ErrUnsupported
	case c.Action == drivers.ActOn:
		return d.last, nil
	case c.Action == drivers.ActOff:
		return 0, nil
	case c.Action == drivers.ActIntensity:
		return int(c.Args.Number(drivers.ValueName)), nil
	}
	return 0, drivers.ErrUnsupported
}

// Set drives the load with an intensity in percent and reads it back:
// drivers.ErrNotConfirmed if the channel shows another. An intensity that was
// confirmed is what "on" restores.
func (d *Dimmer) Set(percent int) error {
	percent = min(max(percent, 0), 100)
	if err := d.Drive(d.Share(percent)); err != nil {
		return err
	}
	got, err := d.Intensity()
	if err != nil {
		return err
	}
	if got != percent {
		return fmt.Errorf("channel %s shows %d %%: %w", d.channel, got, drivers.ErrNotConfirmed)
	}
	if percent > 0 {
		d.mu.Lock()
		d.last = percent
		d.mu.Unlock()
	}
	return nil
}

// Drive sets a share of on-time without reading it back or remembering it.
func (d *Dimmer) Drive(share float64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return drivers.ErrClosed
	}
	if err := d.pwm.SetDuty(share); err != nil {
		return fmt.Errorf("channel %s: %w", d.channel, err)
	}
	return nil
}

// Intensity reads back what the channel shows, in percent.
func (d *Dimmer) Intensity() (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return 0, drivers.ErrClosed
	}
	share, err := d.pwm.Duty()
	if err != nil {
		return 0, fmt.Errorf("channel %s: %w", d.channel, err)
	}
	return d.percent(share), nil
}

// Share is the share of on-time of an intensity in percent, never above 1:
// the sum alone may be, by a rounding.
func (d *Dimmer) Share(percent int) float64 {
	if percent == 0 {
		return 0
	}
	return min(d.minimum+(1-d.minimum)*float64(percent)/100, 1)
}

// percent is the inverse of Share. A load that is driven at all is never told
// as 0, so that one which somebody else dimmed below the minimum shows as on.
func (d *Dimmer) percent(share float64) int {
	if share <= 0 {
		return 0
	}
	n := math.Round((share - d.minimum) / (1 - d.minimum) * 100)
	return int(min(max(n, 1), 100))
}

// Close switches the load off and gives the channel back. It is idempotent.
func (d *Dimmer) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	err := d.pwm.SetDuty(0)
	if e := d.pwm.Close(); err == nil {
		err = e
	}
	return err
}
