package agent

import (
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"roomgate/agent/config"
)

// Trust is what the gateway's wall clock is worth.
type Trust string

// A trusted clock is synchronized; an untrusted one may say anything.
const (
	Trusted   Trust = "trusted"
	Untrusted Trust = "untrusted"
)

// clock judges the wall clock. A board without a battery starts anywhere in
// time, so nothing that matters may be decided by an untrusted clock.
type clock struct {
	mode    string
	floor   time.Time // it was at least this late when the log was last written
	trusted atomic.Bool
	moved   atomic.Int64 // nanoseconds that a simulated building is ahead
}

func newClock(mode string, floor time.Time) *clock {
	c := &clock{mode: mode, floor: floor}
	c.look()
	return c
}

// look judges anew and says whether the verdict changed.
func (c *clock) look() (changed bool) {
	now := c.judge()
	return c.trusted.Swap(now) != now
}

func (c *clock) judge() bool {
	switch c.mode {
	case config.TrustAlways:
		return true
	case config.TrustNever:
		return false
	}
	return time.Now().After(c.floor) && synchronized()
}

// Trust is the last verdict.
func (c *clock) Trust() Trust {
	if c.trusted.Load() {
		return Trusted
	}
	return Untrusted
}

// synchronized asks the kernel, and timesyncd's mark for kernels that are
// disciplined without telling (adjtimex(2), systemd-timesyncd(8)).
func synchronized() bool {
	var t unix.Timex
	if state, err := unix.Adjtimex(&t); err == nil && state != unix.TIME_ERROR {
		return true
	}
	_, err := os.Stat("/run/systemd/timesync/synchronized")
	return err == nil
}

// ahead is how far a simulated building is ahead of the time.
func (c *clock) ahead() time.Duration { return time.Duration(c.moved.Load()) }

// Now is the time by which the building keeps its schedule.
func (a *Agent) Now() time.Time { return time.Now().Add(a.clock.ahead()) }

// MoveClock sets the schedule of a simulated building ahead of the time, by so
// much altogether, to live through a day in a minute.
func (a *Agent) MoveClock(ahead time.Duration) error {
	if !a.simulated {
		return refuse(Forbidden, "", "only a simulated building can be moved in time")
	}
	a.clock.moved.Store(int64(ahead))
	for _, s := range a.spaces() {
		a.planChanged(s)
	}
	return nil
}
