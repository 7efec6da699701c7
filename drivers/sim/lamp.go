package sim

import (
	"fmt"
	"sync"
	"time"
)

// Lamp is a dimmable light on a PWM channel.
type Lamp struct {
	faults `yaml:"-"`
	glow   `yaml:"-"`
	PWM    string `yaml:"pwm"`
}

func (*Lamp) subjects() []string { return nil }

func (l *Lamp) attach(w *World) error { return w.feed(l.PWM, &l.faults, l.light) }

func (*Lamp) verbs(string) []verb { return nil }

func (l *Lamp) state() string { return fmt.Sprintf("shines at %.0f %%", 100*l.Brightness()) }

// glow is how brightly something shines.
type glow struct {
	mu    sync.Mutex
	share float64
}

func (g *glow) light(share float64, _ time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.share = share
}

// Brightness is the share of full light, 0 to 1.
func (g *glow) Brightness() float64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.share
}
