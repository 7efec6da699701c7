package doctor

import (
	"context"
	"fmt"
	"time"

	trust "roomgate/agent/clock"
	"roomgate/agent/config"
)

// builtAfter is a time that no clock which was ever set is before.
var builtAfter = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// clock examines the wall clock and whether something keeps it while the power
// is off.
func clock(_ context.Context, x *examination) []Finding {
	if b := x.Building; x.simulated() && b.Clock.JumpS == 0 { // which needs no time service and no battery
		seen := b.Clock.Now.UTC().Format(time.RFC3339)
		if !b.Clock.Trusted {
			return one(warn("clock", seen+", not believed, and what depends on the time waits", "leave clock.trust out of the configuration of the demo, or sudo roomgate clock confirm"))
		}
		return one(good("clock", "%s, believed in a demo", seen))
	}
	return []Finding{x.time(time.Now(), trust.Synchronized()), x.rtc()}
}

// timeService is how this machine gets the time from a server.
func timeService(x *examination) string {
	for _, s := range []struct{ file, see string }{{"etc/systemd/timesyncd.conf", "timedatectl timesync-status"}, {"etc/chrony/chrony.conf", "chronyc sources"}, {"etc/ntpsec/ntp.conf", "ntpq -p"}} {
		if _, ok := x.exists(s.file); ok {
			return "name a time server in /" + s.file + ", and see " + s.see
		}
	}
	return "install a time service (sudo apt install systemd-timesyncd), and see timedatectl"
}

func (x *examination) time(now time.Time, synchronized bool) Finding {
	const name = "clock"
	server := timeService(x)
	seen := now.UTC().Format(time.RFC3339)
	always := x.Config != nil && x.Config.Clock.Trust == config.TrustAlways
	switch {
	case x.Building != nil && x.Building.Clock.JumpS != 0:
		return x.jumped(name)
	case now.Before(builtAfter):
		return fail(name, seen+", which is past", "connect the network, see timedatectl, or set the time with sudo date -s")
	case synchronized:
		return good(name, "%s, synchronized", seen)
	case always:
		return warn(name, seen+", not synchronized, and believed because clock.trust is always",
			"set clock.trust to auto unless the board has a good clock of its own")
	case x.Building != nil && x.Building.Clock.Trusted:
		return warn(name, seen+", not synchronized, and still believed by the running gateway", server)
	}
	return warn(name, seen+", not synchronized: it is not believed, and what depends on the time waits",
		server+"; where there is none, set the time and confirm it: sudo roomgate clock confirm")
}

// jumped is a clock that differs from what the running gateway has lived through.
func (x *examination) jumped(name string) Finding {
	c := x.Building.Clock
	hours, way := c.JumpS/3600, "ahead of"
	if hours < 0 {
		hours, way = -hours, "behind"
	}
	return fail(name, fmt.Sprintf("%s, %d h %s the time that the gateway has lived through: it is not believed, no booking is released, ended or forgotten",
		c.Now.UTC().Format(time.RFC3339), hours, way),
		correctClock(x)+"; if it is right, confirm it: sudo roomgate clock confirm")
}

func correctClock(x *examination) string {
	if x.simulated() {
		return "if it is wrong, roomgate sim clock real corrects it"
	}
	return "if it is wrong, correct it (timedatectl)"
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
