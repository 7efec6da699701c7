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
