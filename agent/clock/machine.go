package clock

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Machine is what the machine knows of time.
type Machine struct {
	Boot string // this run of it; empty: not known
	// Up is how long that has lasted, with the time that it slept.
	Up func() time.Duration
	// Synchronized says whether a time service keeps the wall clock right.
	Synchronized func() bool
}

func (m Machine) up() time.Duration {
	if m.Up == nil {
		return 0
	}
	return m.Up()
}

func (m Machine) synchronized() bool { return m.Synchronized != nil && m.Synchronized() }

// This is the machine that the program runs on.
func This() Machine {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // random(4)
	return Machine{Boot: strings.TrimSpace(string(boot)), Up: uptime, Synchronized: Synchronized}
}

// uptime is CLOCK_BOOTTIME (clock_getres(2)).
func uptime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// unsynchronized is the error in µs that the kernel's clock has when no time
// service has set it for about nine hours, or ever: it grows by 500 µs each
// second (NTP_PHASE_LIMIT in the kernel's include/linux/timex.h; RFC 5905, PHI).
const unsynchronized = 16_000_000

// Synchronized asks the kernel whether a time service has set the wall clock in
// the last hours (adjtimex(2)). STA_UNSYNC is no evidence, as systemd-timesyncd
// leaves it set where the real-time clock is in local time; and its file
// /run/systemd/timesync/synchronized is none, as it stays when the clock is set
// by anybody else.
func Synchronized() bool {
	var t unix.Timex
	_, err := unix.Adjtimex(&t)
	return err == nil && t.Maxerror < unsynchronized
}
