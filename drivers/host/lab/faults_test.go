//go:build lab

package lab

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/display"
	"roomgate/drivers/sim"
)

// room is opened drivers on a board with their parts.
type room struct {
	*testing.T
	*rig
}

func newRoom(t *testing.T, parts ...sim.Part) *room {
	t.Helper()
	w := sim.NewWorld()
	for _, p := range parts {
		if err := w.Add("room", "device", p); err != nil {
			t.Fatal(err)
		}
	}
	r := &room{t, wireUp(t, w)}
	t.Cleanup(r.Close)
	return r
}

func (r *room) open(o drivers.Options) drivers.Driver {
	r.Helper()
	d, err := o.Open(r.Context(), r.rig)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { _ = d.Close() })
	return d
}

// poll returns the status of one sub-device; its error is also that of all.
func (r *room) poll(d drivers.Driver, sub string) drivers.Status {
	ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
	defer cancel()
	statuses, err := d.Poll(ctx)
	if err != nil {
		return drivers.Status{Sub: sub, Err: err}
	}
	for _, s := range statuses {
		if s.Sub == sub {
			return s
		}
	}
	return drivers.Status{Err: errors.New("no status of " + sub)}
}

// within polls three times and wants ok by then.
func (r *room) within(what string, d drivers.Driver, sub string, ok func(drivers.Status) bool) {
	r.Helper()
	var s drivers.Status
	for range 3 {
		if s = r.poll(d, sub); ok(s) {
			return
		}
		time.Sleep(time.Second)
	}
	r.Errorf("%s: after three polls %q is %q, %v", what, sub, s.Value, s.Err)
}

func fine(s drivers.Status) bool   { return s.Err == nil }
func broken(s drivers.Status) bool { return s.Err != nil }
func is(value string) func(drivers.Status) bool {
	return func(s drivers.Status) bool { return s.Err == nil && s.Value == value }
}

func TestFaults(t *testing.T) {
	t.Run("o3-sensor/i2c/poll/chip absent, appears late", chipAppearsLate)
	t.Run("o3-sensor/i2c/poll/bus error for ten seconds", busError)
	t.Run("o3-sensor/i2c/poll/clock stretching", clockStretching)
	t.Run("o3-sensor/i2c/poll/bus held for ten seconds", busHeld)
	t.Run("o3-sensor/spi/order/bus error", spiError)
	t.Run("lock/gpio/start/line taken by another process", lineTaken)
	t.Run("lock/gpio/open/relay contact does not follow", relayStuck)
	t.Run("lock/gpio/poll/chip fails for ten seconds", chipFails)
	t.Run("lock/gpio/watch/stale edges", staleEdges)
	t.Run("fan/pwm+gpio/poll/tachometer stuck", tachStuck)
	t.Run("light/pwm/order/chip refuses", pwmRefuses)
	t.Run("display/gpio/poll, off/browser closed", browserClosed)
}

func chipAppearsLate(t *testing.T) {
	chip := &sim.TMP102{Bus: i2cBus}
	r := newRoom(t, append(newHub()[1:], chip)...)
	chip.Unplug()
	d := r.open(hubOptions())
	for range 3 {
		s := r.poll(d, drivers.SubTemperature)
		if !errors.Is(s.Err, drivers.ErrOffline) {
			t.Errorf("an absent chip is %q, %v, want ErrOffline", s.Value, s.Err)
		}
		if o := r.poll(d, drivers.SubOccupancy); o.Err != nil {
			t.Errorf("beside an absent chip occupancy fails: %v", o.Err)
		}
	}
	chip.Plug()
	chip.SetTemperature(23.5)
	r.within("plugged in", d, drivers.SubTemperature, is("23.5"))
}

// keepsPace polls a device for ten seconds while another has a fault.
func (r *room) keepsPace(sick drivers.Driver, sub string, well drivers.Driver) {
	r.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.within("while it lasts", sick, sub, broken)
	}()
	var slowest time.Duration
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(250 * time.Millisecond) {
		began := time.Now()
		if s := r.poll(well, ""); s.Err != nil {
			r.Errorf("the device beside it fails: %v", s.Err)
		}
		slowest = max(slowest, time.Since(began))
	}
	<-done
	r.Logf("note: slowest poll of the lock beside it %v", slowest.Round(100*time.Microsecond))
	if slowest > time.Second {
		r.Errorf("a poll of the device beside it took %v", slowest)
	}
}

func (r *room) fail(what string) {
	r.Helper()
	if err := r.tell("fail " + what); err != nil {
		r.Fatal(err)
	}
}

func busError(t *testing.T) {
	r := newRoom(t, append(newHub(), newDoor())...)
	d, lock := r.open(hubOptions()), r.open(lockOptions())
	r.within("at first", d, drivers.SubTemperature, fine)
	r.fail("i2c 5")
	r.keepsPace(d, drivers.SubTemperature, lock)
	r.fail("i2c 0")
	r.within("after it", d, drivers.SubTemperature, fine)
}

func clockStretching(t *testing.T) {
	chip := &sim.TMP102{Bus: i2cBus}
	r := newRoom(t, append(newHub()[1:], chip)...)
	d := r.open(hubOptions())
	chip.SetTemperature(19)
	chip.Delay(300 * time.Millisecond)
	r.within("stretched", d, drivers.SubTemperature, is("19"))
}

// busHeld: a chip that holds the wires makes every transaction run into the
// kernel's limit of a second.
func busHeld(t *testing.T) {
	chip := &sim.TMP102{Bus: i2cBus}
	r := newRoom(t, append(newHub()[1:], chip, newDoor())...)
	d, lock := r.open(hubOptions()), r.open(lockOptions())
	r.within("at first", d, drivers.SubTemperature, fine)
	chip.Stick()
	r.keepsPace(d, drivers.SubTemperature, lock)
	chip.Unstick()
	r.within("after it", d, drivers.SubTemperature, fine)
}

func spiError(t *testing.T) {
	r := newRoom(t, newHub()...)
	d := r.open(hubOptions())
	r.fail("spi 5")
	if err := order(d, "ring-light/on"); err == nil {
		t.Error("an order over a broken bus is told as done")
	}
	r.within("while it lasts", d, drivers.SubRing, broken)
	r.within("beside it", d, drivers.SubTemperature, fine)
	r.fail("spi 0")
	r.within("after it", d, drivers.SubRing, fine)
}

func lineTaken(t *testing.T) {
	r := newRoom(t, newDoor())
	other := start(t, "take", "relay")
	_, err := lockOptions().Open(t.Context(), r.Board)
	if !errors.Is(err, drivers.ErrInUse) || !strings.Contains(err.Error(), "roomgate") {
		t.Errorf("a line of another process: %v, want ErrInUse and who has it", err)
	}
	if held := r.Held(); len(held) > 0 {
		t.Errorf("after that we hold %q", held)
	}
	other.kill()
	r.within("once it is free", r.open(lockOptions()), "", is(drivers.Closed))
}

func relayStuck(t *testing.T) {
	door := newDoor()
	r := newRoom(t, door)
	d := r.open(lockOptions())
	door.Jam()
	if err := order(d, "open"); !errors.Is(err, drivers.ErrNotConfirmed) {
		t.Errorf("a bolt that does not follow: %v, want ErrNotConfirmed", err)
	}
	if door.Drawn() {
		t.Error("the jammed bolt moved")
	}
	log := r.Log()
	if last := log[len(log)-1]; last.Line != "relay" || last.Level != 0 {
		t.Errorf("the order was not taken back: %+v", last)
	}
	door.Free()
	if err := order(d, "open"); err != nil {
		t.Errorf("once it is free: %v", err)
	}
}

// chipFails: an error of the chip is never a level.
func chipFails(t *testing.T) {
	r := newRoom(t, newDoor(), newLamp())
	d, light := r.open(lockOptions()), r.open(lightOptions())
	r.within("at first", d, "", is(drivers.Closed))
	r.fail("gpio 5")
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Second) {
		if s := r.poll(d, ""); s.Err == nil {
			t.Errorf("while the chip fails the lock is told as %s", s.Value)
		}
		if s := r.poll(light, ""); s.Err != nil {
			t.Errorf("the light beside it: %v", s.Err)
		}
	}
	r.fail("gpio 0")
	r.within("after it", d, "", is(drivers.Closed))
}

func staleEdges(t *testing.T) {
	door := newDoor()
	r := newRoom(t, door)
	in, err := r.Input("contact", drivers.PullUp)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for range 20 { // with nobody listening; the kernel keeps them
		door.Force()
		time.Sleep(5 * time.Millisecond)
		door.Shut()
		time.Sleep(5 * time.Millisecond)
	}
	time.Sleep(300 * time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	var seen []drivers.Edge
	time.AfterFunc(300*time.Millisecond, door.Force)
	if err := in.Edges(ctx, func(e drivers.Edge) { seen = append(seen, e) }); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if len(seen) != 1 || !seen[0].High {
		t.Errorf("edges are %+v, want the one that came while we listened", seen)
	}
}

func tachStuck(t *testing.T) {
	rotor := newFan()
	r := newRoom(t, rotor)
	d := r.open(fanOptions())
	if err := order(d, "on"); err != nil {
		t.Fatal(err)
	}
	events := make(chan drivers.Event, 8)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { _ = d.(drivers.Watcher).Watch(ctx, func(e drivers.Event) { events <- e }) }()
	rotor.Stall()
	r.within("stalled", d, "", is(drivers.Off))
	select {
	case e := <-events:
		if e.Type != drivers.EventFanStalled {
			t.Errorf("the event is %q", e.Type)
		}
	case <-time.After(5 * time.Second):
		t.Error("nothing was reported")
	}
	rotor.Free()
	r.within("free again", d, "", is(drivers.On))
}

func pwmRefuses(t *testing.T) {
	r := newRoom(t, newLamp())
	d := r.open(lightOptions())
	r.fail("pwm 5")
	if err := order(d, "on"); err == nil {
		t.Error("an order that the chip refused is told as done")
	}
	r.fail("pwm 0")
	if err := order(d, "on"); err != nil {
		t.Errorf("after it: %v", err)
	}
}

// browserClosed: a display is offline without its page, and its backlight still
// takes orders.
func browserClosed(t *testing.T) {
	tablet := &sim.Tablet{Page: "room"}
	light := &sim.Backlight{Line: "backlight"}
	r := newRoom(t, tablet, light)
	o := displayOptions().(*display.Options)
	d := r.open(o)
	r.within("at first", d, "", fine)
	tablet.Unplug()
	time.Sleep(o.Stale)
	r.within("closed", d, "", func(s drivers.Status) bool { return errors.Is(s.Err, drivers.ErrOffline) })
	if err := order(d, "off"); err != nil {
		t.Errorf("without a page the backlight refuses: %v", err)
	}
	if r.sync(); light.Brightness() > 0 {
		t.Error("the backlight is lit")
	}
	tablet.Plug()
	r.within("open again", d, "", fine)
}
