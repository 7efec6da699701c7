package lock

import (
	"context"
	"fmt"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/wiegand"
)

// The modes of a lock.
const (
	modePulse = "pulse"
	modeHold  = "hold"
)

// The positions of the door leaf.
const (
	shut = "shut"
	ajar = "ajar"
)

// Options are the lines of one lock and its times, as the configuration
// spells them.
type Options struct {
	Relay            string        `yaml:"relay"`
	ActiveLow        bool          `yaml:"active_low"`
	Sense            string        `yaml:"sense"`
	SenseHighMeans   string        `yaml:"sense_high_means"`
	Contact          string        `yaml:"contact"`
	ContactHighMeans string        `yaml:"contact_high_means"`
	Mode             string        `yaml:"mode"`
	Relock           time.Duration `yaml:"relock"`
	HeldOpen         time.Duration `yaml:"held_open"`
	Settle           time.Duration `yaml:"settle"`
	Keypad           Keypad        `yaml:"keypad"`
}

// Keypad is a keypad or card reader at the door, by its two data lines; both
// empty for none.
type Keypad struct {
	D0 string `yaml:"d0"`
	D1 string `yaml:"d1"`
}

// Kind is the driver as the configuration names it.
func Kind() drivers.Kind {
	return drivers.Kind{
		Name:    "lock-relay",
		Type:    drivers.TypeLock,
		Summary: "a door lock on a relay line, with bolt sense and leaf contact",
		Options: func() drivers.Options { return defaults() },
	}
}

func defaults() *Options {
	return &Options{
		SenseHighMeans:   drivers.Open,
		ContactHighMeans: ajar,
		Mode:             modePulse,
		Relock:           5 * time.Second,
		HeldOpen:         30 * time.Second,
		Settle:           500 * time.Millisecond,
	}
}

// Check refuses values out of range with a *drivers.FieldError.
func (o *Options) Check() error {
	if err := o.Keypad.check(); err != nil {
		return err
	}
	switch {
	case o.Relay == "":
		return &drivers.FieldError{Field: "relay", Problem: "is missing: name the line of the relay"}
	case o.SenseHighMeans != drivers.Open && o.SenseHighMeans != drivers.Closed:
		return drivers.Unknown("sense_high_means", o.SenseHighMeans, "open or closed")
	case o.ContactHighMeans != ajar && o.ContactHighMeans != shut:
		return drivers.Unknown("contact_high_means", o.ContactHighMeans, "ajar or shut")
	case o.Mode != modePulse && o.Mode != modeHold:
		return drivers.Unknown("mode", o.Mode, "pulse or hold")
	case o.Relock < time.Second || o.Relock > time.Minute:
		return &drivers.FieldError{Field: "relock", Problem: "is out of range: want 1s to 60s"}
	case o.HeldOpen < 0 || o.HeldOpen > time.Hour:
		return &drivers.FieldError{Field: "held_open", Problem: "is out of range: want 0s to 1h"}
	case o.Settle < 10*time.Millisecond || o.Settle > 10*time.Second:
		return &drivers.FieldError{Field: "settle", Problem: "is out of range: want 10ms to 10s"}
	}
	return nil
}

func (k Keypad) check() error {
	switch {
	case k.D0 == "" && k.D1 != "":
		return &drivers.FieldError{Field: "keypad.d0", Problem: "is missing: name the line of D0"}
	case k.D1 == "" && k.D0 != "":
		return &drivers.FieldError{Field: "keypad.d1", Problem: "is missing: name the line of D1"}
	case k.D1 != "" && k.D1 == k.D0:
		return &drivers.FieldError{Field: "keypad.d1", Problem: "is the line of D0 as well: a keypad has two"}
	}
	return nil
}

// open takes the keypad's lines, if there is one.
func (k Keypad) open(b drivers.Buses) (*wiegand.Reader, error) {
	if k.D0 == "" {
		return nil, nil
	}
	return wiegand.Open(b, k.D0, k.D1)
}

// Open takes the lines and returns the lock, locked. The relay comes first, so
// that it is at its locked level before anything else can fail.
func (o *Options) Open(ctx context.Context, b drivers.Buses) (drivers.Driver, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	out, err := b.Output(o.Relay, o.ActiveLow)
	if err != nil {
		return nil, fmt.Errorf("relay %s: %w", o.Relay, err)
	}
	l := &lock{options: *o, relay: newRelay(out, o.ActiveLow)}
	if l.sense, err = input(b, o.Sense); err == nil {
		l.contact, err = input(b, o.Contact)
	}
	if err == nil {
		l.keypad, err = o.Keypad.open(b)
	}
	if err != nil {
		_ = l.Close() // the first error is the one to tell
		return nil, err
	}
	return l, nil
}

// input takes a line that may not be wired: no name, no input.
func input(b drivers.Buses, line string) (drivers.Input, error) {
	if line == "" {
		return nil, nil
	}
	in, err := b.Input(line, drivers.PullUp)
	if err != nil {
		return nil, fmt.Errorf("line %s: %w", line, err)
	}
	return in, nil
}
