package sim

import (
	"fmt"
	"strings"
	"sync"
	"syscall"
	"time"

	"roomgate/drivers"
)

// maxDelay bounds what a delay may be set to.
const maxDelay = 10 * time.Minute

// Faults are what can be wrong with every part, and the bell that tells those
// who wait that something about the part has changed. Parts embed it.
type Faults struct {
	mu        sync.Mutex
	unplugged bool
	stuck     bool
	garbled   bool
	delay     time.Duration
	bell      chan struct{} // closed by ring; nil while nobody waits
	done      chan struct{} // the world's
}

func (f *Faults) bind(w *World) { f.done = w.done }

// Done is closed when the world ends.
func (f *Faults) Done() <-chan struct{} { return f.done }

// Subjects are none: a part is its device and nothing else, unless it says so.
func (*Faults) Subjects() []string { return nil }

// Verbs are none: a part only shows what drivers do, unless it says so.
func (*Faults) Verbs(string) []Verb { return nil }

// Unplug takes the part away: every access fails at once.
func (f *Faults) Unplug() { f.set(func() { f.unplugged = true }) }

// Plug puts the part back.
func (f *Faults) Plug() { f.set(func() { f.unplugged = false }) }

// Stick keeps the part from answering: every access waits.
func (f *Faults) Stick() { f.set(func() { f.stuck = true }) }

// Unstick lets the part answer again.
func (f *Faults) Unstick() { f.set(func() { f.stuck = false }) }

// Garble disturbs the part's wires.
func (f *Faults) Garble() { f.set(func() { f.garbled = true }) }

// Ungarble clears the wires.
func (f *Faults) Ungarble() { f.set(func() { f.garbled = false }) }

// Delay makes every access take d longer.
func (f *Faults) Delay(d time.Duration) { f.set(func() { f.delay = min(max(d, 0), maxDelay) }) }

func (f *Faults) set(change func()) {
	f.mu.Lock()
	change()
	f.mu.Unlock()
	f.ring()
}

func (f *Faults) isUnplugged() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.unplugged
}

// wrong lists the faults that the part has, empty for none.
func (f *Faults) wrong() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []string
	for _, fault := range []struct {
		has  bool
		name string
	}{
		{f.unplugged, "unplugged"}, {f.stuck, "stuck"}, {f.garbled, "garbled"},
		{f.delay > 0, "delayed by " + f.delay.String()},
	} {
		if fault.has {
			all = append(all, fault.name)
		}
	}
	return strings.Join(all, ", ")
}

func (f *Faults) isStuck() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stuck
}

func (f *Faults) isGarbled() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.garbled
}

func (f *Faults) delayed() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.delay
}

// ring wakes everybody who waits.
func (f *Faults) ring() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.bell != nil {
		close(f.bell)
		f.bell = nil
	}
}

// wait returns a channel that is closed at the next ring.
func (f *Faults) wait() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.bell == nil {
		f.bell = make(chan struct{})
	}
	return f.bell
}

// pass is what every access to the part goes through: it takes the delay,
// waits while the part is stuck, and fails if it is unplugged. It fails with
// ErrClosed when stop or the world is closed.
func (f *Faults) pass(what string, stop <-chan struct{}) (garbled bool, err error) {
	if d := f.delayed(); d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-stop:
		case <-f.done:
		}
	}
	for {
		bell := f.wait()
		switch {
		case isDone(stop) || isDone(f.done):
			return false, fmt.Errorf("%s: %w", what, drivers.ErrClosed)
		case f.isUnplugged():
			return false, unplugged(what)
		case !f.isStuck():
			return f.isGarbled(), nil
		}
		select {
		case <-bell:
		case <-stop:
		case <-f.done:
		}
	}
}

// clean is pass for wires whose every transfer is checked: garbled, it fails.
func (f *Faults) clean(what string, stop <-chan struct{}) error {
	garbled, err := f.pass(what, stop)
	if err == nil && garbled {
		return disturbed(what)
	}
	return err
}

func isDone(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// unplugged is the definite error of something that is not there.
func unplugged(what string) error {
	return fmt.Errorf("%s: %w (%w)", what, drivers.ErrOffline, syscall.ENODEV)
}

// disturbed is the error of a transfer that failed its check.
func disturbed(what string) error { return fmt.Errorf("%s: %w", what, syscall.EIO) }

// FaultVerbs are the verbs that every part obeys.
func (f *Faults) FaultVerbs() []Verb {
	return []Verb{
		Always("unplug", "unplugged", f.Unplug),
		Always("plug", "plugged in", f.Plug),
		Always("stick", "stuck, it no longer answers", f.Stick),
		Always("unstick", "answers again", f.Unstick),
		Always("garble", "its wires are disturbed", f.Garble),
		Always("ungarble", "its wires are clear", f.Ungarble),
		{Name: "delay", Args: 1, Do: f.delayVerb},
		Always("nodelay", "answers at once", func() { f.Delay(0) }),
	}
}

func (f *Faults) delayVerb(args []string) (string, error) {
	d, err := time.ParseDuration(args[0])
	if err != nil || d < 0 || d > maxDelay {
		return "", fmt.Errorf("delay %q is out of range: want a time from 0s to %s", args[0], maxDelay)
	}
	f.Delay(d)
	return "every answer takes " + d.String() + " longer", nil
}
