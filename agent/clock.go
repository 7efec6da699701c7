package agent

import (
	"context"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/clock"
)

// clockMoved lets all that goes by the clock look at it: also those who follow
// the log, though nothing new is in it.
func clockMoved(a *Agent) {
	a.Events.Grow()
	a.Bookings.ClockMoved()
}

// Now is the time by which the building keeps its schedule.
func (a *Agent) Now() time.Time { return a.clock.Now() }

// ConfirmClock takes the word of somebody that the wall clock is right.
func (a *Agent) ConfirmClock(ctx context.Context, by string) (clock.Verdict, error) {
	return a.clock.ConfirmBy(ctx, by)
}

// MoveClock sets the time of a simulated building ahead, by so much altogether.
func (a *Agent) MoveClock(ahead time.Duration, jumps bool) error { return a.clock.Set(ahead, jumps) }

// momentOfRun tells what now is in this run alone, without a look at the wall clock.
func momentOfRun(a *Agent) func() auth.Moment {
	return func() auth.Moment { return auth.Moment{Boot: a.Events.Boot(), Up: a.Health.Uptime()} }
}

// moment tells what now is, as far as it can be known.
func moment(a *Agent) func() auth.Moment {
	return func() auth.Moment {
		return auth.Moment{Boot: a.Events.Boot(), Up: a.Health.Uptime(), Milli: time.Now().UnixMilli(), Trusted: a.clock.Trust() == clock.Trusted}
	}
}
