package doctor

import (
	"context"
	"time"

	"golang.org/x/sys/unix"

	"roomgate/agent/config"
)

// builtAfter is a time that no clock which was ever set is before.
var builtAfter = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// clock examines the wall clock and whether something keeps it while the power
// is off.
func clock(_ context.Context, x *examination) []Finding {
	return []Finding{x.time(time.Now(), x.synchronized()), x.rtc()}
}

// synchronized asks the kernel, and timesyncd's mark for kernels that are
// disciplined without telling (adjtimex(2), systemd-timesyncd(8)).
func (x *examination) synchronized() bool {
	var t unix.Timex
	if state, err := unix.Adjtimex(&t); err == nil && state != unix.TIME_ERROR {
		return true
	}
	_, marked := x.exists("run/systemd/timesync/synchronized")
	return marked
}

func (x *examination) time(now time.Time, synchronized bool) Finding {
	const name = "clock"
	seen := now.UTC().Format(time.RFC3339)
	trusted := x.Config != nil && x.Config.Clock.Trust == config.TrustAlways
	switch {
	case now.Before(builtAfter):
		return fail(name, seen+", which is past", "connect the network, see timedatectl, or set the time with date -s")
	case synchronized:
		return good(name, "%s, synchronized", seen)
	case trusted:
		return warn(name, seen+", not synchronized, and believed because clock.trust is always",
			"set clock.trust to auto unless the board has a good clock of its own")
	}
	return warn(name, seen+", not synchronized: it is not believed, and what depends on the time waits",
		"name a time server in /etc/systemd/timesyncd.conf, and see timedatectl timesync-status")
}

func (x *examination) rtc() Finding {
	const name = "rtc"
	clocks := x.below("sys/class/rtc", "rtc*")
	if len(clocks) == 0 {
		return warn(name, "no real-time clock: after a power cut the time is unknown until the network tells it",
			"fit one with a battery if this building is often without a network")
	}
	return good(name, "%s %s", clocks[0], x.read("sys/class/rtc/"+clocks[0]+"/name"))
}
