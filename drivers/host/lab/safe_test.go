//go:build lab

package lab

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/lock"
	"roomgate/drivers/sim"
)

func lowLockOptions() drivers.Options {
	o := lockOptions().(*lock.Options)
	o.ActiveLow = true
	return o
}

// output is a device with one output, and what its driver's doc.go states of it.
type output struct {
	device, bus string
	role        string // of the child that drives it
	parts       func() []sim.Part
	line        string // in the board's log
	on          string // the order that takes it from its safe level
	safe        string // "0", or "1" where low is on or light is safe
}

func outputs() []output {
	door := func() []sim.Part { return []sim.Part{newDoor()} }
	low := func() []sim.Part {
		d := newDoor()
		d.ActiveLow = true
		return []sim.Part{d}
	}
	return []output{
		{"lock", "gpio", "lock", door, "gpio relay", "open", "0"},
		{"lock active low", "gpio", "lock-low", low, "gpio relay", "open", "1"},
		{"light", "pwm", "light", func() []sim.Part { return []sim.Part{newLamp()} }, "pwm 0", "on", "0"},
		{"fan", "pwm", "fan", func() []sim.Part { return []sim.Part{newFan()} }, "pwm 1", "on", "0"},
		{"buzzer", "gpio", "o3-sensor", newHub, "gpio buzzer", "buzzer/on", "0"},
		{"display", "gpio", "display", newDisplay, "gpio backlight", "off", "1"},
	}
}

// on wires the output's parts to the board.
func (o output) wired(t *testing.T) *rig {
	t.Helper()
	w := sim.NewWorld()
	for _, p := range o.parts() {
		if err := w.Add("room", o.device, p); err != nil {
			t.Fatal(err)
		}
	}
	r := wireUp(t, w)
	t.Cleanup(r.Close)
	return r
}

// moves are the levels that the board's log has for an output, one for each
// transition.
func (o output) moves(r *rig) []string {
	var levels []string
	for _, e := range r.entries() {
		rest, ok := strings.CutPrefix(e.text, o.line+" ")
		if !ok {
			continue
		}
		level, _, _ := strings.Cut(rest, " ")
		levels = append(levels, level)
	}
	return levels
}

// rest is a list of levels without those of a PWM that are only a new period.
func (o output) only(levels []string, want ...string) bool {
	if strings.HasPrefix(o.line, "pwm") {
		levels = slices.Compact(slices.Clone(levels))
		if len(levels) == 0 && slices.Equal(want, []string{"0"}) {
			return true // it was off before, and the kernel passes no change on
		}
	}
	return slices.Equal(levels, want)
}

// What the board's log has for each output at start, stop, kill and hang, as
// each driver states it.
func TestSafe(t *testing.T) {
	for _, o := range outputs() {
		name := o.device + "/" + o.bus + "/"
		t.Run(name+"start/none", o.start)
		t.Run(name+"stop/none", o.stop)
		t.Run(name+"stop/kill -9", o.killed)
		t.Run(name+"stop/hang", o.hangs)
	}
}

// start: the output goes to its safe level and nowhere else.
func (o output) start(t *testing.T) {
	r := o.wired(t)
	c := start(t, "drive", o.role)
	time.Sleep(300 * time.Millisecond)
	levels := o.moves(r)
	t.Logf("note: log %v", levels)
	if !o.only(levels, o.safe) {
		t.Errorf("at start the log has %v, want only %s", levels, o.safe)
	}
	c.stop(t)
	if after := o.moves(r); len(after) != len(levels) {
		t.Errorf("the end without an order has %v", after[len(levels):])
	}
}

// stop: an output that was on is safe when the process has ended.
func (o output) stop(t *testing.T) {
	r := o.wired(t)
	c := start(t, "drive", o.role, o.on)
	before := len(o.moves(r))
	c.stop(t)
	after := o.moves(r)[before:]
	t.Logf("note: log %v", after)
	if !slices.Equal(after, []string{o.safe}) {
		t.Errorf("at stop the log has %v, want %s", after, o.safe)
	}
}

// killed: nobody is left to move the output; the kernel leaves it as it was,
// and the next start makes it safe.
func (o output) killed(t *testing.T) {
	r := o.wired(t)
	c := start(t, "drive", o.role, o.on)
	before := len(o.moves(r))
	c.kill()
	time.Sleep(300 * time.Millisecond)
	if after := o.moves(r)[before:]; len(after) > 0 {
		t.Errorf("at kill -9 the log has %v, want nothing", after)
	}
	began := time.Now()
	next := start(t, "drive", o.role)
	after := o.moves(r)[before:]
	t.Logf("note: stays as it is; safe %v after the next start, log %v", time.Since(began).Round(time.Millisecond), after)
	if !o.only(after, o.safe) {
		t.Errorf("the next start has %v, want %s", after, o.safe)
	}
	next.stop(t)
}

// hangs: a process that stands still moves nothing, and one that is killed
// then, as the watchdog does, is as any that is killed.
func (o output) hangs(t *testing.T) {
	r := o.wired(t)
	c := start(t, "drive", o.role, o.on)
	before := len(o.moves(r))
	if err := c.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	if after := o.moves(r)[before:]; len(after) > 0 {
		t.Errorf("while the process hangs the log has %v", after)
	}
	c.kill()
	start(t, "drive", o.role).stop(t)
	if after := o.moves(r)[before:]; !o.only(after, o.safe) {
		t.Errorf("after the restart the log has %v, want %s", after, o.safe)
	}
	t.Log("note: stays as it is until the watchdog's restart")
}
