package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/clock"
	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	"roomgate/agent/problem"
	"roomgate/store"
)

// openClock starts the clock from what is stored.
func openClock(a *Agent, m clock.Machine) error {
	kept, err := clockMemory(a.db)
	if err != nil {
		return err
	}
	c := clock.New(clock.Options{Mode: a.config.Clock.Trust, Memory: kept, Machine: m})
	a.clock = &clock.Keeper{Clock: c, Log: a.options.Log, Moved: loop.NewSignal(), Store: func(ctx context.Context, e clock.Event) error { return storeClock(ctx, a, e) }}
	return nil
}

// clockMemory is what is stored of the clock. Earlier versions stored nothing:
// then it was as late as the last row of the log, if the clock was trusted then.
func clockMemory(db *store.DB) (kept clock.Memory, err error) {
	err = db.View(func(tx *store.Tx) error {
		kept, err = clockRow.Get(tx, clockKey)
		return err
	})
	if !errors.Is(err, store.ErrNotFound) {
		return kept, err
	}
	last, ok, err := eventlog.Newest(db)
	if ok && !last.Untrusted {
		kept.Wall = last.Milli
	}
	return kept, err
}

// storeClock stores what the clock has to know after a restart, with an event if
// something became of it.
func storeClock(ctx context.Context, a *Agent, e clock.Event) error {
	err := a.db.Update(ctx, func(tx *store.Tx) error {
		if e.Kind != "" {
			if err := a.Health.Tell(tx, e.Kind, clockDetails(e)); err != nil {
				return err
			}
		}
		return clockRow.Put(tx, clockKey, a.clock.Memory())
	})
	if err == nil && e.Kind != "" {
		a.Events.Grow()
	}
	return err
}

// clockDetails are those of the event about the clock.
func clockDetails(e clock.Event) map[string]any {
	details := map[string]any{"shows": eventlog.Stamp(e.Verdict.Wall)}
	if e.Kind == clock.Jumped {
		details["seconds"] = int64(e.Verdict.Jump.Seconds())
	}
	if e.By != "" {
		details["by"] = e.By
	}
	return details
}

// Now is the time by which the building keeps its schedule.
func (a *Agent) Now() time.Time { return a.clock.Now() }

// ConfirmClock takes the word of somebody that the wall clock is right: it is
// trusted until it is stepped or the machine starts again.
func (a *Agent) ConfirmClock(ctx context.Context, by string) (clock.Verdict, error) {
	if a.config.Clock.Trust == clock.Never {
		return a.clock.Verdict(), problem.New(problem.NotNow, "", "clock.trust is never: set it to auto first")
	}
	a.clock.Confirm()
	v := a.clock.Verdict()
	if err := storeClock(ctx, a, clock.Event{Kind: clock.Believed, Verdict: v, By: by}); err != nil {
		return v, fmt.Errorf("the clock is trusted until the gateway restarts, but that cannot be stored: %w", err)
	}
	clockMoved(a)
	return v, nil
}

// MoveClock sets the time of a simulated building ahead, by so much altogether,
// to live through a day in a minute. If it only jumps the building does not live
// through that: then its wall clock is wrong.
func (a *Agent) MoveClock(ahead time.Duration, jumps bool) error {
	switch {
	case !a.options.Simulated:
		return problem.New(problem.Forbidden, "", "only a simulated building can be moved in time")
	case jumps:
		a.clock.Jump(ahead)
	default:
		a.clock.Move(ahead)
	}
	clockMoved(a)
	return nil
}

// clockMoved lets all that goes by the clock look at it: also those who follow
// the log, though nothing new is in it.
func clockMoved(a *Agent) {
	loop.Signal(a.clock.Moved).Wake()
	a.Events.Grow()
	a.Bookings.ClockMoved()
}

// moment tells what now is, as far as it can be known.
func moment(a *Agent) func() auth.Moment {
	return func() auth.Moment {
		return auth.Moment{Boot: a.Events.Boot(), Up: a.Health.Uptime(), Milli: time.Now().UnixMilli(), Trusted: a.clock.Trust() == clock.Trusted}
	}
}
