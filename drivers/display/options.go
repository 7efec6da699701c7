package display

import (
	"context"
	"fmt"
	"time"

	"roomgate/drivers"
)

// Options are one display's page and backlight, as the configuration spells
// them.
type Options struct {
	Page      string        `yaml:"page"`
	Backlight string        `yaml:"backlight"`
	ActiveLow bool          `yaml:"active_low"`
	Stale     time.Duration `yaml:"stale"`
}

// Kind is the driver as the configuration names it.
func Kind() drivers.Kind {
	return drivers.Kind{
		Name:    "display-page",
		Type:    drivers.TypeDisplay,
		Summary: "a room display by the page that it shows, with its backlight",
		Options: func() drivers.Options { return &Options{Stale: 15 * time.Second} },
	}
}

// BeatEvery is how often the page has to beat so that one beat may be lost: a third of
// the silence after which it is offline, 1 s or more.
func (o *Options) BeatEvery() time.Duration { return max(o.Stale/3, time.Second).Truncate(time.Second) }

// Check refuses values out of range with a *drivers.FieldError.
func (o *Options) Check() error {
	switch {
	case o.Page == "":
		return &drivers.FieldError{Field: "page", Problem: "is missing: name the page, as by the id of its meeting space"}
	case o.Stale < 3*time.Second || o.Stale > 10*time.Minute:
		return &drivers.FieldError{Field: "stale", Problem: "is out of range: want 3s to 10m"}
	}
	return nil
}

// Open takes the backlight and returns the display, lit.
func (o *Options) Open(ctx context.Context, b drivers.Buses) (drivers.Driver, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	d := &display{page: b.Page(o.Page), name: o.Page, stale: o.Stale}
	if o.Backlight == "" {
		return d, nil
	}
	line, err := b.Output(o.Backlight, !o.ActiveLow)
	if err != nil {
		return nil, fmt.Errorf("backlight %s: %w", o.Backlight, err)
	}
	d.backlight = &backlight{line: line, name: o.Backlight, litLevel: !o.ActiveLow, lit: true}
	return d, nil
}
