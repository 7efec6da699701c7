package fan

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/dimmer"
)

// kick is how long a fan without a tachometer is started with the start share.
const kick = 500 * time.Millisecond

// fan is one opened fan.
type fan struct {
	options Options
	dimmer  *dimmer.Dimmer
	tach    *tach // nil: not wired
	stalls  chan drivers.Event

	mu      sync.Mutex
	stalled bool
}

// Describe says what the fan takes.
func (f *fan) Describe() drivers.Description {
	return drivers.Description{
		Type:    drivers.TypeFan,
		Driver:  "fan-pwm",
		Summary: "a fan whose speed can be set",
		Values:  []string{drivers.On, drivers.Off},
		Actions: dimmer.Actions("fan", "fast"),
	}
}

// Poll reads the channel back and, if the fan is driven, its speed.
func (f *fan) Poll(ctx context.Context) ([]drivers.Status, error) {
	s, err := f.observe(ctx)
	if err != nil {
		return nil, err
	}
	return []drivers.Status{s}, nil
}

// Do sets the speed and waits until the fan turns. A command that does not make
// it turn is taken back.
func (f *fan) Do(ctx context.Context, c drivers.Command) (drivers.Status, error) {
	if err := context.Cause(ctx); err != nil {
		return drivers.Status{}, err
	}
	percent, err := f.dimmer.Wanted(c)
	if err != nil {
		return drivers.Status{}, err
	}
	before, err := f.dimmer.Intensity()
	if err != nil {
		return drivers.Status{}, err
	}
	if err := f.drive(ctx, before, percent); err != nil {
		return drivers.Status{}, f.takeBack(before, err)
	}
	s, err := f.observe(ctx)
	if err != nil {
		return drivers.Status{}, err
	}
	if err := drivers.Unproven(drivers.TypeFan, c, s); err != nil { // it has stalled since
		return drivers.Status{}, f.takeBack(before, err)
	}
	return s, nil
}

// drive brings the fan to an intensity; from standing still it may need a kick.
func (f *fan) drive(ctx context.Context, before, percent int) error {
	resting := before == 0 || f.isStalled()
	kicked := percent > 0 && resting && f.dimmer.Share(percent) < f.options.StartShare
	if !kicked {
		if err := f.dimmer.Set(percent); err != nil || percent == 0 {
			return err
		}
		return f.turning(ctx)
	}
	if err := f.dimmer.Drive(f.options.StartShare); err != nil {
		return err
	}
	if err := f.started(ctx); err != nil {
		return err
	}
	return f.dimmer.Set(percent)
}

// started waits for the end of a kick.
func (f *fan) started(ctx context.Context) error {
	if f.tach != nil {
		return f.turning(ctx)
	}
	select {
	case <-time.After(kick):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// turning waits until the tachometer shows that the fan turns.
func (f *fan) turning(ctx context.Context) error {
	if f.tach == nil {
		return nil
	}
	late := time.Now().Add(f.options.SpinUp)
	for {
		rpm, err := f.tach.measure(ctx)
		switch {
		case err != nil:
			return err
		case rpm >= f.options.MinRPM:
			f.stall(false)
			return nil
		case !time.Now().Before(late):
			f.stall(true)
			return fmt.Errorf("fan turns at %.0f rpm after %v: %w", rpm, f.options.SpinUp, drivers.ErrNotConfirmed)
		}
	}
}

// takeBack brings the fan to where it was before a command that failed.
func (f *fan) takeBack(before int, failed error) error {
	if err := f.dimmer.Drive(f.dimmer.Share(before)); err != nil {
		return fmt.Errorf("%w; it could not be taken back: %w", failed, err)
	}
	return failed
}

func (f *fan) observe(ctx context.Context) (drivers.Status, error) {
	if err := context.Cause(ctx); err != nil {
		return drivers.Status{}, err
	}
	percent, err := f.dimmer.Intensity()
	if err != nil {
		return drivers.Status{}, err
	}
	s := drivers.Status{
		Value:      drivers.OnOff(percent > 0),
		ObservedAt: time.Now(),
		Source:     "pwm channel",
		Details:    map[string]any{"intensity": percent},
	}
	if f.tach == nil {
		return s, nil
	}
	return f.withSpeed(ctx, s)
}

// withSpeed adds to a status what the tachometer says.
func (f *fan) withSpeed(ctx context.Context, s drivers.Status) (drivers.Status, error) {
	if s.Value == drivers.Off {
		f.stall(false)
		return s, nil
	}
	rpm, err := f.tach.measure(ctx)
	if err != nil {
		return drivers.Status{}, err
	}
	turns := rpm >= f.options.MinRPM
	f.stall(!turns)
	s.Value, s.ObservedAt, s.Source = drivers.OnOff(turns), time.Now(), "tachometer"
	s.Details["rpm"] = int(math.Round(rpm))
	if !turns {
		s.Details["stalled"] = true
	}
	return s, nil
}

// stall takes note whether the fan stands though it is driven; the first time
// is an event.
func (f *fan) stall(stalled bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if stalled && !f.stalled {
		select {
		case f.stalls <- drivers.Event{Type: drivers.EventFanStalled, Time: time.Now()}:
		default: // an earlier one still waits for Watch
		}
	}
	f.stalled = stalled
}

func (f *fan) isStalled() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stalled
}

// Watch reports a fan that stalls. Polls and commands find it out, because the
// tachometer has one reader at a time.
func (f *fan) Watch(ctx context.Context, report func(drivers.Event)) error {
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case e := <-f.stalls:
			report(e)
		}
	}
}

// Close stops the fan and gives its lines back.
func (f *fan) Close() error {
	err := f.dimmer.Close()
	if f.tach != nil {
		if e := f.tach.line.Close(); err == nil {
			err = e
		}
	}
	return err
}
