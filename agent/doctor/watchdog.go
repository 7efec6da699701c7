package doctor

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
)

// The kernel's watchdog class (Documentation/ABI/testing/sysfs-class-watchdog;
// linux/watchdog.h for the bits of bootstatus).
const (
	watchdogClass = "sys/class/watchdog"
	cardReset     = 0x20 // WDIOF_CARDRESET: the last reset was the watchdog's
	// softIdentity is what softdog calls itself: a timer of the kernel.
	softIdentity = "Software Watchdog"
	// longWatch is the longest timeout that is taken for meant, in seconds:
	// doors do not wait longer for a machine that hangs.
	longWatch = 300
)

// armWatchdog lets systemd feed the watchdog.
func armWatchdog(x *examination) string {
	if _, ok := x.exists("usr/lib/systemd/system.conf.d/60-roomgate-watchdog.conf"); ok {
		return "sudo systemctl daemon-reexec, or start this machine again"
	}
	return "write [Manager] and RuntimeWatchdogSec=15s as two lines into /etc/systemd/system.conf.d/watchdog.conf, then sudo systemctl daemon-reexec"
}

// watchdog examines what restarts a machine that hangs: a device that resets it
// unless it is fed, armed by the service manager. Which process has it open
// only root sees, so its state is asked of the kernel.
func watchdog(_ context.Context, x *examination) []Finding {
	const name = "watchdog"
	if x.simulated() {
		return nil // nobody waits for this machine at a door
	}
	all := x.below(watchdogClass, "watchdog*")
	if len(all) == 0 {
		return one(warn(name, "no watchdog: if this machine hangs, it hangs until somebody switches it off and on",
			"enable the board's, "+bootLine(x, "dtparam=watchdog=on")+", or sudo modprobe softdog; then "+armWatchdog(x)))
	}
	chosen := all[0]
	for _, w := range all { // the one that somebody feeds counts
		if x.read(watchdogClass+"/"+w+"/state") == "active" {
			chosen = w
			break
		}
	}
	return one(x.dog(name, chosen))
}

// dog judges one watchdog.
func (x *examination) dog(name, device string) Finding {
	says := func(what string) string { return x.read(watchdogClass + "/" + device + "/" + what) }
	identity := cmp.Or(says("identity"), "of an unknown kind")
	timeout, _ := strconv.Atoi(says("timeout"))
	seen := fmt.Sprintf("%s %s", device, identity)
	switch state := says("state"); {
	case state == "" && timeout == 0:
		return warn(name, seen+": the kernel does not tell whether it is armed", "see wdctl, and systemctl show -p RuntimeWatchdogUSec")
	case state != "active":
		return warn(name, seen+", not armed: nobody feeds it, so it restarts nothing", armWatchdog(x))
	}
	seen += fmt.Sprintf(", armed, resets after %d s", timeout)
	bits, _ := strconv.Atoi(says("bootstatus"))
	switch {
	case bits&cardReset != 0:
		return warn(name, seen+"; it reset this machine at the last start", "run sudo journalctl -b -1 -e for what came before, and sudo dmesg")
	case timeout > longWatch:
		return warn(name, seen, "set RuntimeWatchdogSec to a minute or less in /etc/systemd/system.conf.d")
	case identity == softIdentity:
		return warn(name, seen+"; it is a timer of the kernel, and hangs with it",
			"use the board's own if it has one, "+bootLine(x, "dtparam=watchdog=on"))
	}
	return good(name, "%s", seen)
}
