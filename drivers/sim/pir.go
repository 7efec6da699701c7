package sim

import (
	"sync"
	"time"
)

// PIR is a passive infrared motion detector; its Line is high while it sees
// somebody.
type PIR struct {
	faults `yaml:"-"`
	Line   string `yaml:"line"`

	mu       sync.Mutex
	occupied bool
}

func (*PIR) subjects() []string { return []string{"occupancy"} }

func (p *PIR) attach(w *World) error { return w.drive(p.Line, &p.faults, p) }

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

func (p *PIR) verbs(string) []verb {
	return []verb{
		always("occupied", "sees somebody", func() { p.Occupy(true) }),
		always("vacant", "sees nobody", func() { p.Occupy(false) }),
	}
}

func (p *PIR) state() string {
	if p.at(time.Time{}) {
		return "sees somebody"
	}
	return "sees nobody"
}
