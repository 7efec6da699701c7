//go:build lab

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"roomgate/agent/doctor"
)

// A board of 32 bits with a chip that is sold, the AST2600, and the binary for
// ARMv7. Its lines and its watchdog are the chip's own, as qemu models them.
func TestLabBoard(t *testing.T) {
	l := newLab(t, "ast2600", "LAB_BOARD=ast2600", "LAB_REBOOT=1")
	l.journal = "tail -n 20 /data/log"
	l.row("ast2600/arm/version/none", boardVersion)
	l.row("ast2600/arm/demo/none", boardDemo)
	l.row("ast2600/gpio/start/none", boardStart)
	l.row("ast2600/gpio/lock opens/none", boardLock)
	l.row("ast2600/gpio/stop/kill -9", boardKill)
	l.row("ast2600/all/doctor/none", boardDoctor)
	l.row("watchdog/aspeed_wdt/reset/feeder killed", boardReset)
}

func boardVersion(l *lab) {
	if got := l.sh("roomgate version"); !strings.Contains(got, "linux/arm)") {
		l.Errorf("it is %q", got)
	}
	if got := l.sh("uname -m"); got != "armv7l" {
		l.Errorf("the machine is %q", got)
	}
}

// boardDemo: the whole simulated building, on 32 bits.
func boardDemo(l *lab) {
	began := time.Now()
	l.sh("setsid roomgate demo --listen :8080 </dev/null >/data/log 2>&1 & echo $! > /data/pid")
	l.within(time.Minute, "the demo is ready", l.ready)
	l.Logf("note: ready after %v", time.Since(began).Round(100*time.Millisecond))
	if got := l.sh("roomgate device status aurora lock --output json"); !strings.Contains(got, "closed") {
		l.Errorf("a lock of the demo is %s", got)
	}
	l.end("TERM")
}

func (l *lab) startBoard() {
	l.Helper()
	l.sh("ROOMGATE_SYSTEM_KEY=" + labKey + " setsid roomgate run --config /etc/gateway.yaml </dev/null >>/data/log 2>&1 & echo $! > /data/pid")
	l.within(time.Minute, "the gateway is ready", l.ready)
	l.within(time.Minute, "the lock is online", func() bool { return l.status("lock", "") == "closed online" })
}

// boardStart: the relay is not energised by the start.
func boardStart(l *lab) {
	l.startBoard()
	if l.pin("P4") {
		l.Error("the relay is energised")
	}
}

// boardLock: a person at the pins is the bolt, which follows the relay.
func boardLock(l *lab) {
	opened := make(chan string, 1)
	go func() {
		defer close(opened) // also if it fails
		opened <- l.order("lock", "", "open", nil)
	}()
	l.within(10*time.Second, "the relay is energised", func() bool { return l.pin("P4") })
	l.setPin("P0", true)
	if got := <-opened; got != "done" {
		l.Errorf("the receipt says %s", got)
	}
	l.becomes("lock", "", "open online")
}

// boardKill: the chip keeps the level, as the driver's safe state says, and the
// next start locks.
func boardKill(l *lab) {
	l.end("KILL")
	if !l.pin("P4") {
		l.Error("the kill itself moved the relay")
	}
	l.setPin("P0", false)
	l.startBoard()
	if l.pin("P4") {
		l.Error("after the next start the relay is energised")
	}
}

func boardDoctor(l *lab) {
	all := l.examine("--config /etc/gateway.yaml")
	l.is(all, "board", doctor.OK, "AST2600 EVB (arm)")
	l.is(all, "gpio chips", doctor.OK, "1e780000.gpio (208 lines)")
	for _, line := range []string{"relay", "sense", "contact"} {
		l.is(all, "line "+line, doctor.OK, "on 1e780000.gpio for lab-lock, held by the gateway")
	}
	l.is(all, "watchdog", doctor.Warn, "aspeed_wdt, not armed")
	l.is(all, "clock", doctor.Fail, "which is past") // it has no rtc and no network time
	l.is(all, "rtc", doctor.Warn, "no real-time clock")
	l.is(all, "http", doctor.OK, ":8080 answers")
	l.is(all, "lab lock", doctor.OK, "online, lock closed")
}

// boardReset: the watchdog of the chip resets it when the process that feeds
// it is gone, and the pins are inputs then.
func boardReset(l *lab) {
	l.sh("watchdog -t 1 -T 15 -F /dev/watchdog0 >/dev/null 2>&1 & sleep 2")
	l.is(l.examine(""), "watchdog", doctor.OK, "aspeed_wdt, armed, resets after 15 s")
	time.Sleep(20 * time.Second)
	began := time.Now()
	if got := l.sh("killall -9 watchdog; roomgate version"); !strings.Contains(got, "lab") {
		l.Errorf("fed for longer than its time it did not last: %q", got)
	}
	l.resets(1)
	l.Logf("note: up again %v after its feeder was killed, with a watchdog of 15 s", time.Since(began).Round(time.Second))
	if l.pin("P4") {
		l.Error("after the reset the relay is energised")
	}
	l.startBoard()
	if l.pin("P4") {
		l.Error("after the start the relay is energised")
	}
}

// pin is the level of a pin of the chip, seen from outside.
func (l *lab) pin(name string) (high bool) {
	l.Helper()
	l.qmp("qom-get", map[string]any{"path": "/machine/soc/gpio", "property": "gpio" + name}, &high)
	return high
}

// setPin drives an input of the chip from outside.
func (l *lab) setPin(name string, high bool) {
	l.Helper()
	l.qmp("qom-set", map[string]any{"path": "/machine/soc/gpio", "property": "gpio" + name, "value": high}, nil)
}

// qmp asks the emulator (QEMU Machine Protocol, one JSON object a line).
func (l *lab) qmp(command string, arguments map[string]any, answer any) {
	l.Helper()
	c, err := net.Dial("unix", filepath.Join(l.dir, "qmp"))
	if err != nil {
		l.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	lines := bufio.NewScanner(c)
	lines.Scan() // its greeting
	for _, ask := range []map[string]any{{"execute": "qmp_capabilities"}, {"execute": command, "arguments": arguments}} {
		raw, _ := json.Marshal(ask) // names, strings and levels
		fmt.Fprintln(c, string(raw))
		var got struct{ Return, Error json.RawMessage }
		for got.Return == nil && got.Error == nil { // events come between
			if !lines.Scan() {
				l.Fatalf("qmp %s: no answer: %v", command, lines.Err())
			}
			if err := json.Unmarshal(lines.Bytes(), &got); err != nil {
				l.Fatal(err)
			}
		}
		if got.Error != nil {
			l.Fatalf("qmp %s: %s", command, got.Error)
		}
		if answer != nil && ask["execute"] == command {
			if err := json.Unmarshal(got.Return, answer); err != nil {
				l.Fatal(err)
			}
		}
	}
}
