package sim

import (
	"fmt"
	"math"
	"sync"
	"time"
)

const (
	fanSpeed    = 2000                   // rpm at full duty
	fanStart    = 0.1                    // a smaller duty does not turn the rotor
	fanSpinUp   = 300 * time.Millisecond // how long a change of speed takes
	edgesPerRev = 4                      // two pulses, each with two edges
)

// Fan is a four-wire fan: the PWM channel sets the speed, the Tach line gives
// two pulses per revolution, as Intel's 4-wire fan specification has it. It
// turns at Speed for full duty, in proportion below, not at all under a tenth.
type Fan struct {
	Faults `yaml:"-"`
	PWM    string  `yaml:"pwm"`
	Tach   string  `yaml:"tach"`  // none if empty
	Speed  float64 `yaml:"speed"` // 60 to 30000 rpm; 2000 if 0

	mu      sync.Mutex
	share   float64
	stalled bool
	// The rotor turns at half speed between before and after until then, and
	// at the new speed from there on. angle is in edges of the tachometer.
	since, until time.Time
	angle        float64
	before, rate float64 // edges per second
}

// Attach wires it into the world.
func (f *Fan) Attach(w *World) error {
	if f.Speed == 0 {
		f.Speed = fanSpeed
	}
	if !(f.Speed >= 60 && f.Speed <= 30_000) { // NaN fails too
		return fmt.Errorf("speed %g is out of range: want 60 to 30000 rpm", f.Speed)
	}
	if err := w.feed(f.PWM, &f.Faults, f.feed); err != nil {
		return err
	}
	if f.Tach == "" {
		return nil
	}
	return w.drive(f.Tach, &f.Faults, f)
}

func (f *Fan) feed(share float64, now time.Time) { f.change(now, func() { f.share = share }) }

// Stall blocks the rotor.
func (f *Fan) Stall() { f.change(time.Now(), func() { f.stalled = true }) }

// Free lets the rotor turn.
func (f *Fan) Free() { f.change(time.Now(), func() { f.stalled = false }) }

func (f *Fan) change(now time.Time, do func()) {
	f.mu.Lock()
	do()
	rate := f.Speed / 60 * edgesPerRev * f.share
	if f.stalled || f.share < fanStart {
		rate = 0
	}
	if rate != f.rate {
		f.angle = f.turned(now)
		f.before, f.rate = f.rate, rate
		f.since, f.until = now, now.Add(fanSpinUp)
	}
	f.mu.Unlock()
	f.ring()
}

// turned is the angle at t, in edges since the fan was built.
func (f *Fan) turned(t time.Time) float64 {
	between := (f.before + f.rate) / 2
	if t.Before(f.until) {
		return f.angle + between*max(0, t.Sub(f.since).Seconds())
	}
	return f.angle + between*f.until.Sub(f.since).Seconds() + f.rate*t.Sub(f.until).Seconds()
}

// at is the level of the tachometer line.
func (f *Fan) at(t time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return math.Mod(math.Floor(f.turned(t)), 2) != 0
}

// next is the next edge of the tachometer line.
func (f *Fan) next(t time.Time) (time.Time, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if t.Before(f.since) {
		t = f.since
	}
	left := math.Floor(f.turned(t)) + 1 - f.turned(t)
	if t.Before(f.until) {
		between := (f.before + f.rate) / 2
		if at := later(t, left, between); between > 0 && !at.After(f.until) {
			return at, true
		}
		left -= f.turned(f.until) - f.turned(t)
		t = f.until
	}
	return later(t, left, f.rate), f.rate > 0
}

// later is when so many edges are through, a little more than exactly, so
// that the level has certainly changed by then.
func later(t time.Time, edges, rate float64) time.Time {
	return t.Add(time.Duration(max(0, edges)/rate*float64(time.Second)) + time.Microsecond)
}

// RPM is how fast the fan turns, in revolutions per minute.
func (f *Fan) RPM() float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	rate := f.rate
	if time.Now().Before(f.until) {
		rate = (f.before + f.rate) / 2
	}
	return rate / edgesPerRev * 60
}

// Verbs are what it obeys.
func (f *Fan) Verbs(string) []Verb {
	return []Verb{
		Always("stall", "the rotor is blocked", f.Stall),
		Always("free", "the rotor turns freely", f.Free),
	}
}

// State says how it is.
func (f *Fan) State() string { return fmt.Sprintf("turns at %.0f rpm", f.RPM()) }
