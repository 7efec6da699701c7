package doctor

import (
	"fmt"
	"net"
	"testing"
)

func TestWatchdog(t *testing.T) {
	const pi, soft = "Broadcom BCM2835 Watchdog timer", "Software Watchdog"
	for what, c := range map[string]struct {
		identity, status, timeout, boot string
		state                           State
		words                           string
	}{
		"armed":      {pi, "active", "15", "0", OK, "watchdog0 Broadcom BCM2835 Watchdog timer, armed, resets after 15 s"},
		"idle":       {pi, "inactive", "15", "0", Warn, "not armed"},
		"it was it":  {pi, "active", "15", "32", Warn, "reset this machine"},
		"other bits": {pi, "active", "15", "33024", OK, "armed"},
		"soft":       {soft, "active", "15", "0", Warn, "hangs with it"},
		"for hours":  {pi, "active", "7200", "0", Warn, "RuntimeWatchdogSec"},
		"silent":     {"", "", "", "", Warn, "does not tell"},
	} {
		const at = "sys/class/watchdog/watchdog0/"
		x := &examination{Options: Options{Root: tree(t, map[string]string{at + "identity": c.identity + "\n",
			at + "state": c.status + "\n", at + "timeout": c.timeout + "\n", at + "bootstatus": c.boot + "\n"})}}
		watchdog(t.Context(), x)[0].is(t, what, c.state, c.words)
	}
	x := &examination{Options: Options{Root: t.TempDir()}}
	watchdog(t.Context(), x)[0].is(t, "none", Warn, "modprobe softdog")
}

// Of two, the one that somebody feeds is told.
func TestWatchdogOfTwo(t *testing.T) {
	x := &examination{Options: Options{Root: tree(t, map[string]string{
		"sys/class/watchdog/watchdog0/identity": "a", "sys/class/watchdog/watchdog0/state": "inactive",
		"sys/class/watchdog/watchdog1/identity": "b", "sys/class/watchdog/watchdog1/state": "active",
		"sys/class/watchdog/watchdog1/timeout": "10"})}}
	watchdog(t.Context(), x)[0].is(t, "the second", OK, "watchdog1 b, armed, resets after 10 s")
}

// A listener on every address is found by number, on either family.
func TestListenerOnEveryAddress(t *testing.T) {
	for _, loopback := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", loopback)
		if err != nil {
			t.Logf("%s: %v", loopback, err) // a machine without it
			continue
		}
		x := &examination{Options: Options{Building: &Building{}}}
		port := l.Addr().(*net.TCPAddr).Port
		for _, host := range []string{"", "0.0.0.0", "[::]"} {
			x.listener(t.Context(), "http", fmt.Sprintf("%s:%d", host, port)).is(t, host, OK, "answers")
		}
		l.Close()
		x.listener(t.Context(), "http", fmt.Sprintf(":%d", port)).is(t, "gone", Fail, "does not answer")
	}
}
