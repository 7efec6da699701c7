package sim

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// maxBeeps bounds the beeps that a buzzer remembers.
const maxBeeps = 256

// Buzzer sounds while its Line is high.
type Buzzer struct {
	Faults `yaml:"-"`
	Line   string `yaml:"line"`

	mu    sync.Mutex
	since time.Time // sounding since; zero while silent
	beeps []Beep
}

// Beep is one sound of a buzzer, over or not.
type Beep struct {
	At  time.Time
	For time.Duration
}

// Subjects are its sub-devices.
func (*Buzzer) Subjects() []string { return []string{"buzzer"} }

// Attach wires it into the world.
func (b *Buzzer) Attach(w *World) error { return w.listen(b.Line, &b.Faults, b.hear) }

func (b *Buzzer) hear(high bool, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch sounding := !b.since.IsZero(); {
	case high && !sounding:
		b.since = now
	case !high && sounding:
		b.beeps = append(b.beeps, Beep{b.since, now.Sub(b.since)})
		b.beeps = slices.Delete(b.beeps, 0, max(0, len(b.beeps)-maxBeeps))
		b.since = time.Time{}
	}
}

// Beeps returns the sounds so far, oldest first; the last may go on.
func (b *Buzzer) Beeps() []Beep {
	b.mu.Lock()
	defer b.mu.Unlock()
	beeps := slices.Clone(b.beeps)
	if !b.since.IsZero() {
		beeps = append(beeps, Beep{b.since, time.Since(b.since)})
	}
	return beeps
}

// Sounding says whether it sounds now.
func (b *Buzzer) Sounding() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.since.IsZero()
}

// State says how it is.
func (b *Buzzer) State() string {
	if b.Sounding() {
		return "sounds"
	}
	return fmt.Sprintf("silent, %d beeps so far", len(b.Beeps()))
}
