package sim

import (
	"sync"
	"time"
)

// PIR is a passive infrared motion detector; its Line is high while it sees
// somebody.
type PIR struct {
	Faults `yaml:"-"`
	Line   string `yaml:"line"`

	mu       sync.Mutex
	occupied bool
}

// Subjects are its sub-devices.
func (*PIR) Subjects() []string { return []string{"occupancy"} }

// Attach wires it into the world.
func (p *PIR) Attach(w *World) error { return w.drive(p.Line, &p.Faults, p) }

// Occupy says whether somebody is there.
func (p *PIR) Occupy(somebody bool) {
	p.mu.Lock()
	p.occupied = somebody
	p.mu.Unlock()
	p.ring()
}

func (p *PIR) at(time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.occupied
}

func (*PIR) next(time.Time) (_ time.Time, _ bool) { return time.Time{}, false }

// Verbs are what it obeys.
func (p *PIR) Verbs(string) []Verb {
	return []Verb{
		Always("occupied", "sees somebody", func() { p.Occupy(true) }),
		Always("vacant", "sees nobody", func() { p.Occupy(false) }),
	}
}

// State says how it is.
func (p *PIR) State() string {
	if p.at(time.Time{}) {
		return "sees somebody"
	}
	return "sees nobody"
}
