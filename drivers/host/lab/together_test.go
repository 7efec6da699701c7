//go:build lab

package lab

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/lock"
)

// Several lines at once: a device that has some of them, all devices that have
// all of the board's, and the edges of all of them in one moment.
func TestTogether(t *testing.T) {
	for _, taken := range []string{"sense", "contact", "d0", "d1"} {
		t.Run("lock/gpio/start/"+taken+" taken, the others free", func(t *testing.T) { halfTaken(t, taken) })
	}
	t.Run("board/gpio/start/all nine lines at once", allLines)
	t.Run("board/gpio/watch/edges of five lines at once", allEdges)
}

func wholeLock() drivers.Options {
	o := lockOptions().(*lock.Options)
	o.Keypad = lock.Keypad{D0: "d0", D1: "d1"}
	return o
}

// halfTaken: a device that gets one of its lines not keeps none, and the output
// among them has seen its safe level only.
func halfTaken(t *testing.T, taken string) {
	r := newRoom(t, newDoor())
	other := start(t, "take", taken)
	_, err := wholeLock().Open(t.Context(), r.Board)
	if !errors.Is(err, drivers.ErrInUse) || !strings.Contains(err.Error(), taken) {
		t.Errorf("%s is of another process: %v, want ErrInUse and its name", taken, err)
	}
	if held := r.Held(); len(held) > 0 {
		t.Errorf("after that we hold %q", held)
	}
	for _, line := range []string{"relay", "sense", "contact", "d0", "d1"} {
		if line != taken {
			start(t, "take", line).stop(t) // the kernel agrees that it is free
		}
	}
	for _, move := range r.Log() {
		if move.Line == "relay" && move.Level != 0 {
			t.Errorf("the relay was energised: %+v", move)
		}
	}
	other.stop(t)
	r.within("once it is free", r.open(wholeLock()), "", is(drivers.Closed))
}

// allLines: every line of the board in one process, by five drivers.
func allLines(t *testing.T) {
	r := newRoom(t, append(append(newHub(), newDisplay()...), newDoor(), newFan(), newLamp())...)
	var all []drivers.Driver
	for _, o := range []drivers.Options{wholeLock(), hubOptions(), fanOptions(), lightOptions(), displayOptions()} {
		all = append(all, r.open(o))
	}
	want := []string{"backlight", "buzzer", "contact", "d0", "d1", "pir", "pwmchip0/0", "pwmchip0/1", "relay", "sense", "spidev0.0", "tach"}
	if held := r.Held(); !slices.Equal(held, want) {
		t.Errorf("we hold %q, want %q", held, want)
	}
	for _, d := range all {
		r.whole(d)
	}
	for _, d := range all {
		if err := d.Close(); err != nil {
			t.Errorf("%s: %v", d.Describe().Driver, err)
		}
	}
	if held := r.Held(); len(held) > 0 {
		t.Errorf("after Close we hold %q", held)
	}
	for _, line := range []string{"backlight", "buzzer", "contact", "pir", "relay", "sense", "tach"} {
		start(t, "take", line).stop(t)
	}
}

// whole wants that within three polls every part of a device is fine.
func (r *room) whole(d drivers.Driver) {
	r.Helper()
	for try := range 3 {
		if try > 0 {
			time.Sleep(time.Second)
		}
		statuses, err := d.Poll(r.Context())
		if err == nil && !slices.ContainsFunc(statuses, broken) {
			return
		}
		if try == 2 {
			r.Errorf("%s: %+v, %v", d.Describe().Driver, statuses, err)
		}
	}
}

// allEdges: wires that move in one write of the board are each heard.
func allEdges(t *testing.T) {
	r := newRoom(t)
	names := []string{"sense", "contact", "tach", "pir", "d0"}
	r.move(names, "0") // whatever was on them before
	heard := make(chan string, 64)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, name := range names {
		in, err := r.Input(name, drivers.PullDown)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		go func() { _ = in.Edges(ctx, func(e drivers.Edge) { heard <- name + bit(e.High) }) }()
	}
	time.Sleep(300 * time.Millisecond)
	for _, level := range []string{"1", "0", "1", "0"} {
		var got, want []string
		r.move(names, level)
		for _, name := range names {
			want = append(want, name+level)
		}
		for range names {
			select {
			case edge := <-heard:
				got = append(got, edge)
			case <-time.After(5 * time.Second):
				t.Fatalf("of %q only %q were heard", want, got)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("heard %q, want %q", got, want)
		}
	}
}

// move moves several wires in one write.
func (r *room) move(names []string, level string) {
	r.Helper()
	var all []string
	for _, name := range names {
		all = append(all, "wire "+name+" "+level)
	}
	if err := r.tell(strings.Join(all, "\n")); err != nil {
		r.Fatal(err)
	}
}
