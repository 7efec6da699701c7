//go:build lab

package main

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/agent"
	"roomgate/cloud"
	"roomgate/cloud/backend"
)

// The whole gateway in the lab's machine, reached from outside. Each test is a
// row of the table that `make lab` prints: device/bus/operation/fault.
func TestLab(t *testing.T) {
	l := newLab(t)
	l.lab("sh", "setsid lab.test world /etc/world.yaml </dev/null >/data/world.log 2>&1 &")
	l.await("the world is there", func() bool {
		line, err := l.ask("lab lock").ReadString('\n')
		return err == nil && strings.HasPrefix(line, "lock")
	})
	row := func(name string, f func(l *lab)) {
		t.Run(name, func(t *testing.T) {
			l.T = t
			defer func() { l.T = nil }()
			f(l)
		})
		l.T = t
	}
	row("gateway/all/start/none", labStart)
	row("lock/http, gpio/open/none", labOpen)
	row("lock/mqtt, gpio/open/none", labCommand)
	row("lock/gpio, mqtt/event/door forced", labForced)
	row("lock/http, gpio/open/bolt jammed", labJammed)
	row("light/http, pwm/intensity/none", labLight)
	row("fan/http, pwm+gpio/on/none", labFan)
	row("fan/http, gpio/status/tachometer stuck", labStall)
	row("o3-sensor/http, i2c/temperature/none", labTemperature)
	row("o3-sensor/http, i2c/temperature/chip unplugged", labUnplugged)
	row("o3-sensor/http, i2c/status/bus error for ten seconds", labBusError)
	row("o3-sensor/http, gpio/occupancy/none", labOccupancy)
	row("o3-sensor/http, spi/ring color/none", labRing)
	row("gateway/all/stop/none", labStop)
	row("gateway/all/start/kill -9", labKill)
}

// labStart: nothing moves at start that nobody ordered.
func labStart(l *lab) {
	l.start()
	for _, device := range []string{"lock", "light", "fan"} {
		l.await(device+" is online", func() bool { return strings.HasSuffix(l.status(device, ""), " online") })
	}
	if levels := l.log("gpio relay"); !slices.Equal(levels, []string{"0"}) {
		l.Errorf("the relay's log is %v, want 0 only", levels)
	}
	if levels := l.log("gpio buzzer"); !slices.Equal(levels, []string{"0"}) {
		l.Errorf("the buzzer's log is %v, want 0 only", levels)
	}
	for _, channel := range []string{"pwm 0", "pwm 1"} {
		if slices.ContainsFunc(l.log(channel), func(duty string) bool { return duty != "0" }) {
			l.Errorf("%s has %v at start", channel, l.log(channel))
		}
	}
}

func labOpen(l *lab) {
	if got := l.order("lock", "", "open", nil); got != "done" {
		l.Errorf("the receipt says %s", got)
	}
	if state := l.sim("lab lock"); !strings.Contains(state, "drawn") {
		l.Errorf("the door says %s", state)
	}
	l.becomes("lock", "", "closed online")
	if levels := l.log("gpio relay"); !slices.Equal(levels, []string{"0", "1", "0"}) {
		l.Errorf("the relay's log is %v", levels)
	}
}

func labCommand(l *lab) {
	ctx, cancel := context.WithTimeout(l.Context(), 20*time.Second)
	defer cancel()
	id, err := l.up.Command(ctx, "lab", backend.Command{MeetingSpaceID: labSpace, DeviceType: "lock", Action: "open", TTL: 20})
	if err != nil {
		l.Fatal(err)
	}
	l.has("the receipt comes", func(e cloud.Envelope) bool {
		var r agent.Receipt
		return e.Type == "roomgate.receipt" && json.Unmarshal(e.Data, &r) == nil && r.CommandID == id && r.State == agent.Done
	})
	if levels := l.log("gpio relay"); len(levels) < 4 || levels[3] != "1" {
		l.Errorf("the relay's log is %v", levels)
	}
	l.becomes("lock", "", "closed online")
}

func labForced(l *lab) {
	time.Sleep(4 * time.Second) // somebody who was let in is through by now
	l.sim("lab lock force")
	l.has("the event comes", func(e cloud.Envelope) bool { return e.Type == "roomgate.event.doorForced" })
	l.sim("lab lock shut")
}

func labJammed(l *lab) {
	l.sim("lab lock jam")
	if got := l.order("lock", "", "open", nil); !strings.HasPrefix(got, "failed") {
		l.Errorf("the receipt says %s", got)
	}
	l.sim("lab lock free")
	if got := l.order("lock", "", "open", nil); got != "done" {
		l.Errorf("free again the receipt says %s", got)
	}
	l.becomes("lock", "", "closed online")
}

func labLight(l *lab) {
	if got := l.order("light", "", "intensity", 40); got != "done" {
		l.Errorf("the receipt says %s", got)
	}
	if state := l.sim("lab light"); !strings.Contains(state, "40 %") {
		l.Errorf("the lamp says %s", state)
	}
	l.becomes("light", "", "on online")
}

func labFan(l *lab) {
	if got := l.order("fan", "", "intensity", 100); got != "done" {
		l.Errorf("the receipt says %s", got)
	}
	l.becomes("fan", "", "on online")
}

func labStall(l *lab) {
	l.sim("lab fan stall")
	l.becomes("fan", "", "off online")
	l.has("the event comes", func(e cloud.Envelope) bool { return e.Type == "roomgate.event.fanStalled" })
	l.sim("lab fan free")
	l.becomes("fan", "", "on online")
}

func labTemperature(l *lab) {
	l.sim("lab temperature 31.5")
	l.becomes("o3-sensor", "temperature", "31.5 high")
	l.sim("lab temperature 21")
	l.becomes("o3-sensor", "temperature", "21 normal")
}

func labUnplugged(l *lab) {
	l.sim("lab temperature unplug")
	began := time.Now()
	l.await("the chip is offline", func() bool { return strings.HasSuffix(l.status("o3-sensor", "temperature"), " offline") })
	l.Logf("note: offline after %v of polls every second", time.Since(began).Round(100*time.Millisecond))
	if got := l.status("lock", ""); got != "closed online" {
		l.Errorf("the lock beside it is %s", got)
	}
	l.sim("lab temperature plug")
	l.await("the chip is back", func() bool { return strings.HasSuffix(l.status("o3-sensor", "temperature"), " normal") })
}

// labBusError: the room goes on while one of its buses does not.
func labBusError(l *lab) {
	l.sim("tell fail i2c 5")
	began := time.Now()
	l.await("the chip is offline", func() bool { return strings.HasSuffix(l.status("o3-sensor", "temperature"), " offline") })
	noticed := time.Since(began)
	var slowest time.Duration
	for time.Since(began) < 10*time.Second {
		order := time.Now()
		if got := l.order("light", "", "intensity", 20); got != "done" {
			l.Errorf("beside it the light's receipt says %s", got)
		}
		slowest = max(slowest, time.Since(order))
		time.Sleep(500 * time.Millisecond)
	}
	l.sim("tell fail i2c 0")
	began = time.Now()
	l.await("the chip is back", func() bool { return strings.HasSuffix(l.status("o3-sensor", "temperature"), " normal") })
	l.Logf("note: offline after %v, back after %v; slowest order to the light %v", noticed.Round(100*time.Millisecond),
		time.Since(began).Round(100*time.Millisecond), slowest.Round(time.Millisecond))
	if noticed > 4*time.Second || slowest > 2*time.Second {
		l.Error("that is more than three polls, or the light had to wait")
	}
}

func labOccupancy(l *lab) {
	l.sim("lab occupancy occupied")
	l.becomes("o3-sensor", "occupancy", "occupied online")
	l.sim("lab occupancy vacant")
	l.becomes("o3-sensor", "occupancy", "vacant online")
}

func labRing(l *lab) {
	if got := l.order("o3-sensor", "ring-light", "color", "#ff8800"); got != "done" {
		l.Errorf("the receipt says %s", got)
	}
	if state := l.sim("lab ring-light"); !strings.Contains(state, "#ff8800") {
		l.Errorf("the ring says %s", state)
	}
}

// labStop: what was on is safe when the process is gone.
func labStop(l *lab) {
	if got := l.order("o3-sensor", "buzzer", "on", nil); got != "done" {
		l.Errorf("the receipt says %s", got)
	}
	l.end("TERM")
	for _, output := range []string{"gpio relay", "gpio buzzer", "pwm 0", "pwm 1"} {
		if levels := l.log(output); levels[len(levels)-1] != "0" {
			l.Errorf("after the stop %s has %v", output, levels)
		}
	}
}

// labKill: kill -9 moves nothing, and the next start makes everything safe.
func labKill(l *lab) {
	l.start()
	if got := l.order("light", "", "on", nil); got != "done" {
		l.Errorf("the receipt says %s", got)
	}
	before := len(l.log("pwm 0"))
	l.end("KILL")
	if after := l.log("pwm 0")[before:]; len(after) > 0 {
		l.Errorf("the kill itself moved the light: %v", after)
	}
	l.start()
	l.becomes("light", "", "off online")
	if after := l.log("pwm 0")[before:]; slices.ContainsFunc(after, func(duty string) bool { return duty != "0" }) {
		l.Errorf("the next start has %v", after)
	}
}
