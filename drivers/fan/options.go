package fan

import (
	"context"
	"fmt"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/dimmer"
)

// Options are one fan's lines and limits, as the configuration spells them.
type Options struct {
	Channel    string        `yaml:"channel"`
	Frequency  float64       `yaml:"frequency"`   // Hz
	Minimum    float64       `yaml:"minimum"`     // share of on-time, 0 to 0.9
	StartShare float64       `yaml:"start_share"` // share of on-time, 0 to 1
	Tach       string        `yaml:"tach"`
	Pulses     int           `yaml:"pulses"`  // per turn
	MinRPM     float64       `yaml:"min_rpm"` // turns per minute
	SpinUp     time.Duration `yaml:"spin_up"`
}

// Kind is the driver as the configuration names it.
func Kind() drivers.Kind {
	return drivers.Kind{
		Name:    "fan-pwm",
		Type:    drivers.TypeFan,
		Summary: "a 4-wire fan on a pwm channel, with its tachometer",
		Options: func() drivers.Options { return defaults() },
	}
}

func defaults() *Options {
	return &Options{
		Frequency:  25_000,
		Minimum:    0.2,
		StartShare: 0.3,
		Pulses:     2,
		MinRPM:     300,
		SpinUp:     2 * time.Second,
	}
}

func (o *Options) dimmer() dimmer.Options {
	return dimmer.Options{Channel: o.Channel, Frequency: o.Frequency, Minimum: o.Minimum}
}

// Check refuses values out of range with a *drivers.FieldError.
func (o *Options) Check() error {
	if err := o.dimmer().Check(); err != nil {
		return err
	}
	switch {
	case !(o.StartShare >= 0 && o.StartShare <= 1): // NaN fails too
		return &drivers.FieldError{Field: "start_share", Problem: "is out of range: want a share from 0 to 1"}
	case o.Pulses < 1 || o.Pulses > 8:
		return &drivers.FieldError{Field: "pulses", Problem: "is out of range: want 1 to 8 a turn"}
	case !(o.MinRPM >= o.slowest() && o.MinRPM <= 10_000):
		return &drivers.FieldError{Field: "min_rpm", Problem: fmt.Sprintf(
			"is out of range: want %g to 10000, slower cannot be told in %v", o.slowest(), window)}
	case o.SpinUp < window || o.SpinUp > 10*time.Second:
		return &drivers.FieldError{Field: "spin_up", Problem: "is out of range: want 250ms to 10s"}
	}
	return nil
}

// slowest is the speed at which two pulses are sure to fall into the window.
func (o *Options) slowest() float64 {
	return 2 * time.Minute.Seconds() / window.Seconds() / float64(o.Pulses)
}

// Open takes channel and tachometer and returns the fan, off.
func (o *Options) Open(ctx context.Context, b drivers.Buses) (drivers.Driver, error) {
	d, err := o.dimmer().Open(ctx, b)
	if err != nil {
		return nil, err
	}
	f := &fan{options: *o, dimmer: d, stalls: make(chan drivers.Event, 1)}
	if o.Tach == "" {
		return f, nil
	}
	line, err := b.Input(o.Tach, drivers.PullUp)
	if err != nil {
		_ = f.Close() // the first error is the one to tell
		return nil, fmt.Errorf("tachometer %s: %w", o.Tach, err)
	}
	f.tach = &tach{line: line, name: o.Tach, pulses: o.Pulses}
	return f, nil
}
