//go:build lab

package lab

import (
	"context"
	"fmt"
	"math/bits"
	"strings"
	"testing"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/lock"
)

// Pulses of 50 µs, 5 ms apart, through the kernel's interrupts. The board
// itself times them: a process under emulation cannot.
func TestKeypad(t *testing.T) {
	for row, c := range map[string]struct {
		messages []string
		want     drivers.Secret
	}{
		"keypad/gpio/code/none":         {[]string{"0100", "1000", "0001", "0101", "0001", "1011"}, "48151"},
		"card reader/gpio/26 bits/none": {[]string{card(42, 8)}, "42:31337"},
		"card reader/gpio/34 bits/none": {[]string{card(4711, 16)}, "4711:31337"},
	} {
		t.Run(row, func(t *testing.T) {
			r := newRoom(t, newDoor())
			if err := r.tell("wire d0 1\nwire d1 1"); err != nil {
				t.Fatal(err)
			}
			o := lockOptions().(*lock.Options)
			o.Keypad = lock.Keypad{D0: "d0", D1: "d1"}
			d := r.open(o)
			events := make(chan drivers.Event, 16)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() { _ = d.(drivers.Watcher).Watch(ctx, func(e drivers.Event) { events <- e }) }()
			time.Sleep(300 * time.Millisecond)
			lost := 0
			for try := range 10 {
				pause := time.Duration(0)
				for _, message := range c.messages {
					pause = max(pause, r.send(message))
				}
				code := entered(events)
				switch {
				case pause > 20*time.Millisecond:
					t.Logf("note: try %d paused for %v", try+1, pause)
				case code == "" && lost < 2: // as a pulse that the kernel comes too late to see
					lost++
					t.Logf("note: of try %d nothing was told", try+1)
				case code != c.want:
					t.Errorf("entered was %q, want %q", string(code), string(c.want))
					return
				default:
					return
				}
			}
			t.Error("the machine stood still in every message")
		})
	}
}

// card is the message of card 31337 of a facility of so many bits, whose
// halves have even and odd parity.
func card(facility uint, size int) string {
	const number, numberBits = 31337, 16
	data := facility<<numberBits | number
	half := (size + numberBits) / 2
	even := bits.OnesCount(data>>half) % 2
	odd := 1 - bits.OnesCount(data&(1<<half-1))%2
	return fmt.Sprintf("%d%0*b%d", even, size+numberBits, data, odd)
}

// send puts a message on the two data lines, which rest high. It returns the
// longest that one bit took: an emulated machine stands still now and then, and
// what pauses within a message is two for any reader.
func (r *room) send(message string) (longest time.Duration) {
	r.Helper()
	var all strings.Builder
	all.WriteString("mark note\n")
	for _, bit := range message {
		fmt.Fprintf(&all, "wire d%c 0\nwait 50\nwire d%c 1\nwait 5000\nmark note\n", bit, bit)
	}
	before := len(r.entries())
	if err := r.tell(all.String()); err != nil {
		r.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
	var last time.Time
	for _, e := range r.entries()[before:] {
		if e.text != "mark note" {
			continue
		}
		if !last.IsZero() {
			longest = max(longest, e.at.Sub(last))
		}
		last = e.at
	}
	return longest
}

// entered waits for a code, longer than any that has begun may take.
func entered(events <-chan drivers.Event) drivers.Secret {
	for late := time.After(6 * time.Second); ; {
		select {
		case e := <-events:
			if e.Type == drivers.EventCodeEntered {
				return e.Code
			}
		case <-late:
			return ""
		}
	}
}
