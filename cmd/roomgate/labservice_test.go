//go:build lab

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"roomgate/agent/doctor"
)

// patience is longer than an emulated machine takes to boot with systemd, on a
// host with other things to do.
const patience = 4 * time.Minute

// The service as a package installs it, below the systemd of Debian and with
// the hardware watchdog. The wires lead to a world that is there before the
// gateway starts, so its log has all that the outputs ever did.
func TestLabService(t *testing.T) {
	l := newLab(t, "service", "LAB_REBOOT=1")
	l.journal = "journalctl -b -u roomgate --no-pager | tail -n 30"
	for _, r := range []struct {
		name string
		run  func(*lab)
	}{
		{"service/systemd/start/none", serviceStart},
		{"service/systemd/watchdog/gateway stands still", serviceHang},
		{"service/systemd/restart/kill -9", func(l *lab) { l.crash("KILL", "2") }},
		{"service/systemd/restart/crash of the runtime", func(l *lab) { l.crash("SEGV", "3") }},
		{"service/systemd/stop/none", serviceStop},
		{"watchdog/i6300esb/arm/none", watchdogArmed},
		{"watchdog/i6300esb/reset/machine stands still", machineHang},
	} {
		if l.row(r.name, r.run); l.Failed() {
			return // nothing that follows would tell more
		}
	}
}

// online waits until the machine, its service and its devices are.
func (l *lab) online() {
	l.Helper()
	l.within(patience, "the gateway is ready", l.ready)
	l.within(time.Minute, "the world is there", l.wired)
	for _, device := range []string{"lock", "light", "fan", "camera"} {
		l.within(time.Minute, device+" is online", func() bool { return strings.HasSuffix(l.status(device, ""), " online") })
	}
}

// busy gives orders after which every output is away from its safe level.
func (l *lab) busy() map[string]int {
	l.Helper()
	for _, o := range []struct {
		device, sub, action string
		value               any
	}{{"light", "", "intensity", 60}, {"fan", "", "intensity", 80}, {"o3-sensor", "buzzer", "on", nil},
		{"meeting-room-display", "", "off", nil}} {
		if got := l.order(o.device, o.sub, o.action, o.value); got != "done" {
			l.Errorf("%s %s: the receipt says %s", o.device, o.action, got)
		}
	}
	if got := l.order("lock", "", "open", 60); got != "done" {
		l.Errorf("lock open: the receipt says %s", got)
	}
	for _, output := range labOutputs {
		if levels := l.log(output); levels[len(levels)-1] == safeLevel(output) {
			l.Errorf("%s is not on: %v", output, levels)
		}
	}
	return l.marks()
}

// serviceStart: sandboxed, as an ordinary user, it has all that it needs.
func serviceStart(l *lab) {
	began := time.Now()
	l.online()
	l.Logf("note: %v after the kernel", time.Since(began).Round(100*time.Millisecond))
	l.onlySafe("at start", nil)
	if got := l.unit("ActiveState") + " " + l.unit("NRestarts"); got != "active 0" {
		l.Errorf("systemd says %q", got)
	}
	if got := l.sh("ls -A /run/credentials/roomgate.service"); !strings.Contains(got, "secret_lab") {
		l.Errorf("the service's credentials are %q", got)
	}
	all := l.examine("")
	l.is(all, "user", doctor.OK, "gpio i2c roomgate spi video: the running gateway's user")
	l.is(all, "line relay", doctor.OK, "held by the gateway")
	l.is(all, "channel pwmchip0/1", doctor.OK, "in use")
	l.is(all, "data folder", doctor.OK, "/var/lib/roomgate drwx------")
	for _, f := range all {
		if f.State == doctor.Fail && f.Name != "lab meeting-room-display" {
			l.Errorf("the doctor finds %+v", f)
		}
	}
}

// unit is a property of the service.
func (l *lab) unit(property string) string {
	l.Helper()
	return l.sh("systemctl show -P " + property + " roomgate")
}

// restarted waits until systemd has started the service so often again.
func (l *lab) restarted(times string) {
	l.Helper()
	l.within(patience, "systemd has started it again", func() bool {
		return l.unit("NRestarts") == times && l.unit("ActiveState") == "active"
	})
	l.online()
}

// serviceHang: a process that stands still moves nothing; WatchdogSec ends it,
// and the next start makes everything safe.
func serviceHang(l *lab) {
	before := l.busy()
	began := time.Now()
	l.sh("kill -STOP $(systemctl show -P MainPID roomgate)")
	l.restarted("1")
	l.Logf("note: stays as it is, safe and ready again after %v of WatchdogSec=8s", time.Since(began).Round(time.Second))
	l.onlySafe("after the hang", before)
	if said := l.sh("journalctl -b --no-pager -t systemd | grep -c 'roomgate.service: Watchdog timeout'"); said == "0" {
		l.Error("it was not the watchdog")
	}
}

// crash ends the process with a signal. Of one that it can still see the
// runtime makes the exit status that it has for a panic.
func (l *lab) crash(signal, times string) {
	l.Helper()
	before := l.busy()
	began := time.Now()
	l.sh("systemctl kill --signal=" + signal + " roomgate")
	l.restarted(times)
	l.Logf("note: stays as it is, safe and ready again after %v of RestartSec=2s", time.Since(began).Round(time.Second))
	l.onlySafe("after the crash", before)
}

// serviceStop: all is safe when systemd says that it has stopped.
func serviceStop(l *lab) {
	before := l.busy()
	l.sh("systemctl stop roomgate")
	l.onlySafe("at stop", before)
	for _, output := range labOutputs {
		if levels := l.log(output); levels[len(levels)-1] != safeLevel(output) {
			l.Errorf("after the stop %s has %v", output, levels)
		}
	}
	l.sh("systemctl start roomgate")
	l.online()
}

// watchdogArmed: with the file of systemd/ the first process feeds the card.
func watchdogArmed(l *lab) {
	l.is(l.examine(""), "watchdog", doctor.OK, "i6300ESB timer, armed, resets after 15 s")
	for _, property := range []string{"RuntimeWatchdogUSec", "RebootWatchdogUSec"} {
		if got := l.sh("systemctl show -P " + property); got != "15s" {
			l.Errorf("systemd says that %s is %q", property, got)
		}
	}
}

// machineHang: nothing moves any more, no interrupt, no process. The card
// resets the machine, its outputs are those of a board after power-up, and the
// service starts by itself and only ever drives them to their safe levels.
func machineHang(l *lab) {
	l.busy()
	began := time.Now()
	l.sh("(sleep 0.5; echo hang > /dev/labhw) >/dev/null 2>&1 &")
	l.resets(1)
	reset := time.Since(began)
	l.online()
	l.Logf("note: up again after %v with a watchdog of 15 s, doors served after %v", reset.Round(time.Second), time.Since(began).Round(time.Second))
	l.onlySafe("after the reset", nil)
	for _, device := range []string{"lock", "light", "fan"} {
		if got := l.status(device, ""); !strings.HasPrefix(got, "closed ") && !strings.HasPrefix(got, "off ") {
			l.Errorf("after the reset %s is %s", device, got)
		}
	}
	l.is(l.examine(""), "watchdog", doctor.Warn, "it reset this machine at the last start")
}

// resets waits until the machine has come up again so often.
func (l *lab) resets(times int) {
	l.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		console, err := os.ReadFile(filepath.Join(l.dir, "console"))
		if err != nil {
			l.Fatal(err)
		}
		if strings.Count(string(console), "LAB-UP") > times {
			return
		}
		if time.Now().After(end) {
			l.Fatalf("%v have passed and nothing has reset the machine: %s", patience, console[max(0, len(console)-2000):])
		}
	}
}
