//go:build lab

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/agent/device"
	"roomgate/cloud"
	"roomgate/cloud/backend"
)

// The whole gateway in the lab's machine, reached from outside.
func TestLab(t *testing.T) {
	l := newLab(t, "gateway")
	l.startCloud()
	l.lab("sh", "setsid lab.test world /etc/world.yaml </dev/null >/data/world.log 2>&1 &")
	l.await("the world is there", l.wired)
	l.row("gateway/all/start/none", labStart)
	l.row("lock/http, gpio/open/none", labOpen)
	l.row("lock/mqtt, gpio/open/none", labCommand)
	l.row("lock/gpio, mqtt/event/door forced", labForced)
	l.row("lock/http, gpio/open/bolt jammed", labJammed)
	l.row("light/http, pwm/intensity/none", labLight)
	l.row("fan/http, pwm+gpio/on/none", labFan)
	l.row("fan/http, gpio/status/tachometer stuck", labStall)
	l.row("o3-sensor/http, i2c/temperature/none", labTemperature)
	l.row("o3-sensor/http, i2c/temperature/chip unplugged", labUnplugged)
	l.row("o3-sensor/http, i2c/status/bus error for ten seconds", labBusError)
	l.row("o3-sensor/http, gpio/occupancy/none", labOccupancy)
	l.row("o3-sensor/http, spi/ring color/none", labRing)
	l.row("camera/http, v4l2/snapshot/none", labPicture)
	l.row("display/http, gpio/off, on/none", labBacklight)
	l.diagnoses()
	l.row("gateway/all/stop/none", labStop)
	l.diagnosesStopped()
	l.row("gateway/all/start/kill -9", labKill)
}

// wired says whether the world at the end of the wires is there.
func (l *lab) wired() bool {
	c, err := net.Dial("tcp", l.world)
	if err != nil {
		return false
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	fmt.Fprintln(c, "lab lock")
	line, err := bufio.NewReader(c).ReadString('\n')
	return err == nil && strings.HasPrefix(line, "lock")
}

// labOutputs are what the board drives, as its log names them.
var labOutputs = []string{"gpio relay", "gpio buzzer", "gpio backlight", "pwm 0", "pwm 1"}

// safeLevel is where an output rests: a display is lit, all else is off.
func safeLevel(output string) string {
	if output == "gpio backlight" {
		return "1"
	}
	return "0"
}

// labStart: nothing moves at start that nobody ordered.
func labStart(l *lab) {
	l.start()
	for _, device := range []string{"lock", "light", "fan"} {
		l.await(device+" is online", func() bool { return strings.HasSuffix(l.status(device, ""), " online") })
	}
	l.onlySafe("at start", nil)
}

// onlySafe wants that since the marks no output took a level but its safe one.
func (l *lab) onlySafe(when string, since map[string]int) {
	l.Helper()
	for _, output := range labOutputs {
		moves := l.log(output)[since[output]:]
		if slices.ContainsFunc(moves, func(level string) bool { return level != safeLevel(output) }) {
			l.Errorf("%s %s has %v", when, output, moves)
		}
		if strings.HasPrefix(output, "gpio") && len(moves) > 1 {
			l.Errorf("%s %s has %v, want its safe level once", when, output, moves)
		}
	}
}

// marks are how long the log of each output is.
func (l *lab) marks() map[string]int {
	l.Helper()
	all := map[string]int{}
	for _, output := range labOutputs {
		all[output] = len(l.log(output))
	}
	return all
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
	id, err := l.up.Send(ctx, "lab", backend.Command{MeetingSpaceID: labSpace, DeviceType: "lock", Action: "open", TTL: 20})
	if err != nil {
		l.Fatal(err)
	}
	l.has("the receipt comes", func(e cloud.Envelope) bool {
		var r device.Receipt
		return e.Type == "roomgate.receipt" && json.Unmarshal(e.Data, &r) == nil && r.CommandID == id && r.State == device.Done
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

// labPicture: a browser gets a picture of what the camera sees.
func labPicture(l *lab) {
	began := time.Now()
	if got := l.order("camera", "", "snapshot", nil); got != "done" {
		l.Errorf("the receipt says %s", got)
	}
	l.Logf("note: receipt after %v", time.Since(began).Round(time.Millisecond))
	l.becomes("camera", "", "on online")
}

// labBacklight: the screen is lit and dark by its line, whether or not a
// browser shows the page.
func labBacklight(l *lab) {
	for _, c := range []struct{ action, want string }{{"off", "at 0 %"}, {"on", "at 100 %"}} {
		if got := l.order("meeting-room-display", "", c.action, nil); got != "done" {
			l.Errorf("the receipt says %s", got)
		}
		if state := l.sim("lab display"); !strings.Contains(state, c.want) {
			l.Errorf("after %s the display says %s", c.action, state)
		}
	}
}

// labStop: what was on is safe when the process is gone.
func labStop(l *lab) {
	if got := l.order("o3-sensor", "buzzer", "on", nil); got != "done" {
		l.Errorf("the receipt says %s", got)
	}
	l.end("TERM")
	for _, output := range labOutputs {
		if levels := l.log(output); levels[len(levels)-1] != safeLevel(output) {
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
