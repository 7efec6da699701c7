//go:build lab

package main

import (
	"encoding/json"
	"slices"
	"strings"

	"roomgate/agent/doctor"
)

// truth is what is known of the lab's board: a finding, how grave it is, and
// words that it must have.
type truth struct {
	row     string // device/bus of the table
	finding string
	state   doctor.State
	words   string
}

// boardTruths hold with a gateway that runs on the board.
var boardTruths = []truth{
	{"doctor/all", "configuration", doctor.OK, "1 meeting space with 6 devices"},
	{"doctor/all", "gateway", doctor.OK, "lab runs version lab"},
	{"doctor/all", "board", doctor.OK, "linux,dummy-virt (arm64)"},
	{"doctor/all", "kernel", doctor.OK, "Linux 6.1."},
	{"doctor/all", "user", doctor.Warn, "root is not needed"},
	{"doctor/gpio", "gpio chips", doctor.OK, "labhw (9 lines)"},
	{"doctor/gpio", "line relay", doctor.OK, "on labhw for lab-lock, held by the gateway"},
	{"doctor/gpio", "line contact", doctor.OK, "on labhw for lab-lock, held by the gateway"},
	{"doctor/gpio", "line tach", doctor.OK, "on labhw for lab-fan, held by the gateway"},
	{"doctor/gpio", "line pir", doctor.OK, "on labhw for lab-o3, held by the gateway"},
	{"doctor/gpio", "line backlight", doctor.OK, "on labhw for lab-display, held by the gateway"},
	{"doctor/i2c", "bus i2c-0", doctor.OK, "labhw i2c for lab-o3"},
	{"doctor/spi", "port spidev0.0", doctor.OK, "for lab-o3"},
	{"doctor/pwm", "channel pwmchip0/0", doctor.OK, "of 4 channels, in use, for lab-light"},
	{"doctor/pwm", "channel pwmchip0/1", doctor.OK, "of 4 channels, in use, for lab-fan"},
	{"doctor/v4l2", "camera /dev/video0", doctor.OK, "for lab-camera"},
	{"doctor/i6300esb", "watchdog", doctor.Warn, "i6300ESB timer, not armed"},
	{"doctor/all", "clock", doctor.Warn, "believed because clock.trust is always"},
	{"doctor/all", "rtc", doctor.OK, "rtc-pl031"},
	{"doctor/all", "data folder", doctor.OK, "/data/roomgate drwx------"},
	{"doctor/all", "default route", doctor.OK, "by eth0"},
	{"doctor/mqtt", "cloud broker", doctor.OK, "the gateway is connected"},
	{"doctor/http", "http", doctor.OK, ":8080 answers"},
	{"doctor/all", "lab lock", doctor.OK, "online, lock closed"},
	{"doctor/all", "lab camera", doctor.OK, "online"},
	{"doctor/all", "lab o3-sensor", doctor.OK, "temperature 21"},
	{"doctor/all", "lab meeting-room-display", doctor.Fail, "has not been heard of"},
}

// examine asks the doctor on the board. A machine that is emulated on a busy
// host may make it wait for longer than it does: then it is asked again.
func (l *lab) examine(flags string) []doctor.Finding {
	l.Helper()
	var all []doctor.Finding
	for range 5 {
		all = l.examineOnce(flags)
		if !slices.ContainsFunc(all, func(f doctor.Finding) bool { return strings.HasPrefix(f.Seen, "no answer within ") }) {
			break
		}
	}
	return all
}

func (l *lab) examineOnce(flags string) []doctor.Finding {
	l.Helper()
	raw := l.sh("roomgate doctor --output json " + flags + " 2>/dev/null || true")
	var d struct{ Findings []doctor.Finding }
	if err := json.Unmarshal([]byte(raw), &d); err != nil {
		l.Fatalf("the doctor says %q: %v", raw, err)
	}
	return d.Findings
}

// found is a finding by its name.
func found(all []doctor.Finding, name string) doctor.Finding {
	if i := slices.IndexFunc(all, func(f doctor.Finding) bool { return f.Name == name }); i >= 0 {
		return all[i]
	}
	return doctor.Finding{}
}

// is compares a finding with the truth.
func (l *lab) is(all []doctor.Finding, name string, state doctor.State, words string) {
	l.Helper()
	f := found(all, name)
	if f.State != state || !strings.Contains(f.Seen+" "+f.Fix, words) || (f.Fix == "") != (state == doctor.OK) {
		l.Errorf("found %+v, want %s with %q", f, state, words)
	}
}

// diagnoses compares what the doctor finds on the board with the truth, whole
// and with faults.
func (l *lab) diagnoses() {
	l.Helper()
	const ours = "--config /data/gateway.yaml"
	all := l.examine(ours)
	for _, want := range boardTruths {
		l.row(want.row+"/"+strings.ReplaceAll(want.finding, "/", "-")+"/none", func(l *lab) {
			l.is(all, want.finding, want.state, want.words)
		})
	}
	l.row("doctor/all/failures/none", func(l *lab) {
		for _, f := range all {
			known := slices.ContainsFunc(boardTruths, func(t truth) bool { return t.finding == f.Name })
			if f.State == doctor.Fail && !known {
				l.Errorf("nothing is wrong with it: %+v", f)
			}
		}
	})
	l.row("doctor/i2c/lab o3-sensor/chip unplugged", func(l *lab) {
		l.sim("lab temperature unplug")
		l.await("the chip is offline", func() bool { return strings.HasSuffix(l.status("o3-sensor", "temperature"), " offline") })
		l.is(l.examine(ours), "lab o3-sensor", doctor.Fail, "temperature offline")
		l.sim("lab temperature plug")
		l.await("the chip is back", func() bool { return strings.HasSuffix(l.status("o3-sensor", "temperature"), " normal") })
	})
	l.row("doctor/v4l2/camera/unplugged", func(l *lab) {
		l.sh("echo vivid.0 > /sys/bus/platform/drivers/vivid/unbind")
		l.await("the camera is offline", func() bool { return strings.HasSuffix(l.status("camera", ""), " offline") })
		l.is(l.examine(ours), "camera /dev/video0", doctor.Fail, "there is no /dev/video0")
		l.sh("echo vivid.0 > /sys/bus/platform/drivers/vivid/bind")
		l.await("the camera is back", func() bool { return strings.HasSuffix(l.status("camera", ""), " online") })
	})
}

// diagnosesStopped does the same where no gateway runs.
func (l *lab) diagnosesStopped() {
	l.Helper()
	const wrong = "sed 's/relay: relay/relay: GPIO17/; s/i2c-0/i2c-1/; s|pwmchip0/0|pwmchip0/4|' /data/gateway.yaml > /tmp/wrong.yaml"
	l.row("doctor/all/gateway/stopped", func(l *lab) {
		all := l.examine("--config /data/gateway.yaml")
		l.is(all, "gateway", doctor.Warn, "roomgate run --config")
		l.is(all, "line relay", doctor.OK, "free")
		l.is(all, "http", doctor.OK, ":8080 is free")
	})
	l.row("doctor/all/names/not of this board", func(l *lab) {
		l.sh(wrong)
		all := l.examine("--config /tmp/wrong.yaml")
		l.is(all, "line GPIO17", doctor.Fail, "no chip has it")
		l.is(all, "bus i2c-1", doctor.Fail, "there is i2c-0")
		l.is(all, "channel pwmchip0/4", doctor.Fail, "has 4 channels")
	})
	l.row("doctor/gpio/line relay/held by another program", func(l *lab) {
		l.sh("(sleep 8 | setsid lab.test take relay >/tmp/take) >/dev/null 2>&1 & while ! grep -q ready /tmp/take; do sleep 0.1; done")
		l.is(l.examine("--config /data/gateway.yaml"), "line relay", doctor.Warn, "held by a gateway that does not answer here")
		l.sh("while pidof lab.test | grep -q ' '; do sleep 0.2; done") // the world goes on
	})
}
