package sim

import (
	"fmt"
	"sync"
	"time"
)

// boltTravel is how long the bolt of an electric lock moves.
const boltTravel = 80 * time.Millisecond

// Door is a leaf with a fail-secure electric lock. A high Relay line draws the
// bolt (low, if ActiveLow), which then moves for Travel. The Sense line is the
// bolt switch and the Contact line the reed of the leaf, both to ground
// against a pull-up: low is secure (bolt thrown, leaf shut), high is open, and
// so is a broken wire.
type Door struct {
	Faults    `yaml:"-"`
	Relay     string        `yaml:"relay"`
	Sense     string        `yaml:"sense"`   // none if empty
	Contact   string        `yaml:"contact"` // none if empty
	ActiveLow bool          `yaml:"active_low"`
	Travel    time.Duration `yaml:"travel"` // 80 ms if 0

	mu     sync.Mutex
	bolt   bolt
	order  bool // the relay wants the bolt drawn
	jammed bool
	ajar   bool
}

// bolt is drawn or thrown, or on its way.
type bolt struct {
	from, to bool // drawn
	arrives  time.Time
}

func (b bolt) drawn(t time.Time) bool {
	if t.Before(b.arrives) {
		return b.from
	}
	return b.to
}

// Attach wires it into the world.
func (d *Door) Attach(w *World) error {
	if d.Travel <= 0 {
		d.Travel = boltTravel
	}
	if err := w.listen(d.Relay, &d.Faults, d.relay); err != nil {
		return err
	}
	if d.Sense != "" {
		if err := w.drive(d.Sense, &d.Faults, boltSwitch{d}); err != nil {
			return err
		}
	}
	if d.Contact != "" {
		return w.drive(d.Contact, &d.Faults, reed{d})
	}
	return nil
}

// relay is the coil's view of the line.
func (d *Door) relay(high bool, now time.Time) {
	d.mu.Lock()
	d.order = high != d.ActiveLow
	d.move(now)
	d.mu.Unlock()
	d.ring()
}

// move sets the bolt on its way to what the coil wants, from where it is.
func (d *Door) move(now time.Time) {
	at := d.bolt.drawn(now)
	switch {
	case d.jammed || at == d.order:
		d.bolt = bolt{from: at, to: at, arrives: now}
	case d.bolt.to != d.order || !now.Before(d.bolt.arrives):
		d.bolt = bolt{from: at, to: d.order, arrives: now.Add(d.Travel)}
	}
}

// Jam holds the bolt where it is.
func (d *Door) Jam() { d.change(func() { d.jammed = true }) }

// Free lets the bolt move, at once to where the coil wants it.
func (d *Door) Free() { d.change(func() { d.jammed = false }) }

// Force opens the leaf, whatever the bolt is.
func (d *Door) Force() { d.change(func() { d.ajar = true }) }

// Shut closes the leaf.
func (d *Door) Shut() { d.change(func() { d.ajar = false }) }

// Ajar opens the leaf as a person does: it fails while the bolt is thrown.
func (d *Door) Ajar() error {
	if !d.Drawn() && !d.IsAjar() {
		return fmt.Errorf("the door is locked: open the lock first, or use force")
	}
	d.Force()
	return nil
}

func (d *Door) change(do func()) {
	d.mu.Lock()
	do()
	d.move(time.Now())
	d.mu.Unlock()
	d.ring()
}

// Drawn says whether the bolt is drawn, so that the leaf can be opened.
func (d *Door) Drawn() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.bolt.drawn(time.Now())
}

// IsAjar says whether the leaf is open.
func (d *Door) IsAjar() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ajar
}

// Verbs are what it obeys.
func (d *Door) Verbs(string) []Verb {
	return []Verb{
		Always("jam", "the bolt is jammed", d.Jam),
		Always("free", "the bolt moves freely", d.Free),
		Always("force", "the leaf was forced open", d.Force),
		Always("shut", "the leaf is shut", d.Shut),
		{Name: "ajar", Do: func([]string) (string, error) { return "the leaf is ajar", d.Ajar() }},
	}
}

// State says how it is.
func (d *Door) State() string {
	bolt, leaf := "bolt thrown", "leaf shut"
	if d.Drawn() {
		bolt = "bolt drawn"
	}
	if d.IsAjar() {
		leaf = "leaf ajar"
	}
	return bolt + ", " + leaf
}

type boltSwitch struct{ d *Door }

func (s boltSwitch) at(t time.Time) bool {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	return s.d.bolt.drawn(t)
}

func (s boltSwitch) next(t time.Time) (time.Time, bool) {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	b := s.d.bolt
	return b.arrives, b.from != b.to && t.Before(b.arrives)
}

type reed struct{ d *Door }

func (r reed) at(time.Time) bool                  { return r.d.IsAjar() }
func (reed) next(time.Time) (_ time.Time, _ bool) { return time.Time{}, false }
