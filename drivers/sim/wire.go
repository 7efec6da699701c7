package sim

import (
	"sync"
	"time"
)

// Wire is a line with nothing at its end: a test drives it, or reads what the
// board drives.
type Wire struct {
	Faults
	name string

	mu   sync.Mutex
	high bool
}

// Wire returns the bare line of that name, which is made on first use. It is
// nil if a part has that line.
func (w *World) Wire(name string) *Wire {
	x := &Wire{name: name}
	x.bind(w)
	l := &line{name: name, world: w, faults: &x.Faults, signal: x, driven: func(high bool, _ time.Time) { x.Set(high) }}
	if err := place(w, w.lines, name, l); err == nil {
		return x
	}
	l, err := find(w, w.lines, name)
	if err != nil {
		return nil
	}
	x, _ = l.signal.(*Wire)
	return x
}

// Set drives the wire from outside.
func (x *Wire) Set(high bool) {
	x.mu.Lock()
	x.high = high
	x.mu.Unlock()
	x.ring()
}

// High is the level now.
func (x *Wire) High() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.high
}

func (x *Wire) at(time.Time) bool                  { return x.High() }
func (*Wire) next(time.Time) (_ time.Time, _ bool) { return time.Time{}, false }
