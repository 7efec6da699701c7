package sim

import (
	"fmt"
	"sync"
	"time"
)

// Lamp is a dimmable light on a PWM channel.
type Lamp struct {
	Faults `yaml:"-"`
	glow   `yaml:"-"`
	PWM    string `yaml:"pwm"`
}

// Attach wires it into the world.
func (l *Lamp) Attach(w *World) error { return w.feed(l.PWM, &l.Faults, l.light) }

// State says how it is.
func (l *Lamp) State() string { return fmt.Sprintf("shines at %.0f %%", 100*l.Brightness()) }

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
