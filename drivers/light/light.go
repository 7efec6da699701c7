package light

import (
	"context"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/dimmer"
)

// Options are one light's channel, as the configuration spells it.
type Options struct {
	Channel   string  `yaml:"channel"`
	Frequency float64 `yaml:"frequency"` // Hz
	Minimum   float64 `yaml:"minimum"`   // share of on-time, 0 to 0.9
}

// Kind is the driver as the configuration names it.
func Kind() drivers.Kind {
	return drivers.Kind{
		Name:    "light-pwm",
		Type:    drivers.TypeLight,
		Summary: "a light dimmed by a pwm channel",
		Options: func() drivers.Options { return &Options{Frequency: 1000} },
	}
}

// Check refuses values out of range with a *drivers.FieldError.
func (o *Options) Check() error { return dimmer.Options(*o).Check() }

// Open takes the channel and returns the light, off.
func (o *Options) Open(ctx context.Context, b drivers.Buses) (drivers.Driver, error) {
	d, err := dimmer.Options(*o).Open(ctx, b)
	if err != nil {
		return nil, err
	}
	return &light{d}, nil
}

// light is one opened light.
type light struct{ dimmer *dimmer.Dimmer }

// Describe says what the light takes.
func (l *light) Describe() drivers.Description {
	return drivers.Description{
		Type:    drivers.TypeLight,
		Driver:  "light-pwm",
		Summary: "a light that can be dimmed",
		Values:  []string{drivers.On, drivers.Off},
		Actions: dimmer.Actions("light", "bright"),
	}
}

// Poll reads the channel back.
func (l *light) Poll(ctx context.Context) ([]drivers.Status, error) {
	s, err := l.observe(ctx)
	if err != nil {
		return nil, err
	}
	return []drivers.Status{s}, nil
}

// Do dims the light and reads the channel back.
func (l *light) Do(ctx context.Context, c drivers.Command) (drivers.Status, error) {
	if err := context.Cause(ctx); err != nil {
		return drivers.Status{}, err
	}
	percent, err := l.dimmer.Wanted(c)
	if err != nil {
		return drivers.Status{}, err
	}
	if err := l.dimmer.Set(percent); err != nil {
		return drivers.Status{}, err
	}
	return l.observe(ctx)
}

func (l *light) observe(ctx context.Context) (drivers.Status, error) {
	if err := context.Cause(ctx); err != nil {
		return drivers.Status{}, err
	}
	percent, err := l.dimmer.Intensity()
	if err != nil {
		return drivers.Status{}, err
	}
	return drivers.Status{
		Value:      drivers.OnOff(percent > 0),
		ObservedAt: time.Now(),
		Source:     "pwm channel",
		Details:    map[string]any{"intensity": percent},
	}, nil
}

// Close switches the light off and gives the channel back.
func (l *light) Close() error { return l.dimmer.Close() }
