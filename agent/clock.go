package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/clock"
	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	"roomgate/store"
)

// Trust is what the gateway's wall clock is worth.
type Trust = clock.Trust

// A trusted clock is synchronized; an untrusted one may say anything.
const (
	Trusted   = clock.Trusted
	Untrusted = clock.Untrusted
)

// clockLook is how often the clock is looked at, to tell what is thought of it
// and to store what a restart needs. Whoever asks it notices a jump himself.
const clockLook = 10 * time.Second

// The events about the clock.
const (
	clockJumped   = "clockJumped"   // it is not trusted until that is confirmed or taken back
	clockBelieved = "clockBelieved" // again, as it went back or was confirmed
)

// timekeeper keeps the clock of a building: it stores what the clock has to
// know after a restart, and tells what becomes of it.
type timekeeper struct {
	*clock.Clock
	mode string
	db   *store.DB
	log  *slog.Logger
	tell func(tx *store.Tx, event string, details map[string]any) error
	told func() // something was told
}

// newTimekeeper starts the clock from what is stored.
func (a *Agent) newTimekeeper(m clock.Machine) (*timekeeper, error) {
	kept, err := a.clockMemory()
	if err != nil {
		return nil, err
	}
	mode := a.config.Clock.Trust
	return &timekeeper{clock.New(clock.Options{Mode: mode, Memory: kept, Machine: m}), mode, a.db, a.log, a.tellGateway, func() { a.Events.Grow() }}, nil
}

// clockMemory is what is stored of the clock. Earlier versions stored nothing:
// then it was as late as the last row of the log, if the clock was trusted then.
func (a *Agent) clockMemory() (kept clock.Memory, err error) {
	err = a.db.View(func(tx *store.Tx) error {
		kept, err = clockRow.Get(tx, clockKey)
		return err
	})
	if !errors.Is(err, store.ErrNotFound) {
		return kept, err
	}
	last, ok, err := eventlog.Newest(a.db)
	if ok && !last.Untrusted {
		kept.Wall = last.Milli
	}
	return kept, err
}

// run looks at the clock again and again until ctx ends.
func (k *timekeeper) run(ctx context.Context) error {
	for ctx.Err() == nil {
		jumped := k.Shown().Jump != 0
		v, changed := k.Look()
		if changed {
			k.log.Info("the clock is now "+string(v.Trust), "now", v.Wall.UTC(), "why", v.Why(k.mode), "jump", v.Jump)
		}
		switch {
		case changed && v.Jump != 0:
			k.store(ctx, clockJumped, map[string]any{"seconds": int64(v.Jump.Seconds()), "shows": stamp(v.Wall)})
		case changed && jumped:
			k.store(ctx, clockBelieved, map[string]any{"shows": stamp(v.Wall)})
		case k.Due():
			k.store(ctx, "", nil)
		}
		loop.Sleep(ctx, clockLook)
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	k.store(last, "", nil)
	return nil
}

// store writes down what a restart needs, with an event if there is one. It is
// no reason to stop that it cannot be: the next hour tries again.
func (k *timekeeper) store(ctx context.Context, event string, details map[string]any) {
	if err := k.write(ctx, event, details); err != nil && ctx.Err() == nil {
		k.log.Error("cannot store how long the gateway has run: see the disk", "error", err)
	}
}

func (k *timekeeper) write(ctx context.Context, event string, details map[string]any) error {
	err := k.db.Update(ctx, func(tx *store.Tx) error {
		if event != "" {
			if err := k.tell(tx, event, details); err != nil {
				return err
			}
		}
		return clockRow.Put(tx, clockKey, k.Memory())
	})
	if err == nil && event != "" {
		k.told()
	}
	return err
}

// witness hears the clock of the cloud.
func (k *timekeeper) witness(at time.Time) {
	if k.Witness(at) {
		k.log.Info("the cloud confirms the jump of the clock", "now", at)
	}
}

// Now is the time by which the building keeps its schedule.
func (a *Agent) Now() time.Time { return a.clock.Now() }

// ConfirmClock takes the word of somebody that the wall clock is right: it is
// trusted until it is stepped or the machine starts again.
func (a *Agent) ConfirmClock(ctx context.Context, by string) (clock.Verdict, error) {
	if a.clock.mode == clock.Never {
		return a.clock.Verdict(), refuse(NotNow, "", "clock.trust is never: set it to auto first")
	}
	a.clock.Confirm()
	v := a.clock.Verdict()
	if err := a.clock.write(ctx, clockBelieved, map[string]any{"shows": stamp(v.Wall), "by": by}); err != nil {
		return v, fmt.Errorf("the clock is trusted until the gateway restarts, but that cannot be stored: %w", err)
	}
	a.clockMoved()
	return v, nil
}

// MoveClock sets the time of a simulated building ahead, by so much altogether,
// to live through a day in a minute. If it only jumps the building does not live
// through that: then its wall clock is wrong.
func (a *Agent) MoveClock(ahead time.Duration, jumps bool) error {
	switch {
	case !a.options.Simulated:
		return refuse(Forbidden, "", "only a simulated building can be moved in time")
	case jumps:
		a.clock.Jump(ahead)
	default:
		a.clock.Move(ahead)
	}
	a.clockMoved()
	return nil
}

// clockMoved lets all that goes by the clock look at it: also those who follow
// the log, though nothing new is in it.
func (a *Agent) clockMoved() {
	a.Events.Grow()
	a.Bookings.ClockMoved()
}

// health is what a heartbeat says of the clock.
func (k *timekeeper) health() HealthClock {
	v := k.Verdict()
	return HealthClock{v.Wall.UTC(), v.Trust == Trusted, v.Why(k.mode), int64(v.Jump.Round(time.Second).Seconds())}
}

// moment is now, as far as it can be known.
func (a *Agent) moment() auth.Moment {
	now := time.Now()
	return auth.Moment{Boot: a.Events.Boot(), Up: now.Sub(a.began.at), Milli: now.UnixMilli(), Trusted: a.clock.Trust() == Trusted}
}
