package sim

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"roomgate/drivers"
)

// maxLog bounds the transitions that the world remembers.
const maxLog = 8192

// World is a building in memory. It implements drivers.Buses.
type World struct {
	mu       sync.Mutex
	parts    []entry
	aliases  map[string]string // lower-case id or name -> lower-case space
	lines    map[string]*line
	channels map[string]*channel
	i2c      map[string]*i2cBus
	spi      map[string]*spiPort
	cameras  map[string]*Webcam
	hosts    map[string]*host
	pages    map[string]*drivers.Page
	log      []Transition
	closed   bool
	done     chan struct{}
	running  sync.WaitGroup
}

// entry is a part at its place.
type entry struct {
	space, device string
	part          Part
}

// Transition is one write to an output line or a PWM channel, whether or not
// it changed the level.
type Transition struct {
	At    time.Time
	Line  string
	Level float64 // 0 or 1 for a line, the share of on-time for a channel
}

var _ drivers.Buses = (*World)(nil)

// NewWorld returns an empty building.
func NewWorld() *World {
	return &World{
		aliases:  map[string]string{},
		lines:    map[string]*line{},
		channels: map[string]*channel{},
		i2c:      map[string]*i2cBus{},
		spi:      map[string]*spiPort{},
		cameras:  map[string]*Webcam{},
		hosts:    map[string]*host{},
		pages:    map[string]*drivers.Page{},
		done:     make(chan struct{}),
	}
}

// Add puts a part into a space as (a part of) a device, as "lock". It fails if
// the part needs a line that another part already has.
func (w *World) Add(space, device string, p Part) error {
	p.bind(w)
	if err := p.Attach(w); err != nil {
		return fmt.Errorf("add %s of %s: %w", device, space, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.parts = append(w.parts, entry{strings.ToLower(space), strings.ToLower(device), p})
	return nil
}

// Alias gives a space a further name or id by which Control finds it.
func (w *World) Alias(space, other string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.aliases[strings.ToLower(other)] = strings.ToLower(space)
}

// Close ends everything that the world runs and whatever waits for a stuck
// part. It is idempotent.
func (w *World) Close() {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.done)
	}
	w.mu.Unlock()
	w.running.Wait()
}

// Run starts f, which must end soon after w.done is closed. It is false if
// the world is already closed.
func (w *World) Run(f func()) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	w.running.Go(f)
	return true
}

// Log returns what was written to outputs and channels, oldest first. Only
// the last few thousand are kept.
func (w *World) Log() []Transition {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.log)
}

func (w *World) record(name string, level float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.log) >= maxLog {
		w.log = slices.Delete(w.log, 0, maxLog/4)
	}
	w.log = append(w.log, Transition{time.Now(), name, level})
}

// Held lists the lines, channels and ports that a driver holds, sorted.
func (w *World) Held() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var names []string
	for name, l := range w.lines {
		if l.taken() {
			names = append(names, name)
		}
	}
	for name, c := range w.channels {
		if c.taken() {
			names = append(names, name)
		}
	}
	for name, p := range w.spi {
		if p.taken() {
			names = append(names, name)
		}
	}
	for name, c := range w.cameras {
		if c.taken() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Page returns the page of that name, which is made on first use.
func (w *World) Page(name string) *drivers.Page {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.pages[name]
	if p == nil {
		p = &drivers.Page{}
		w.pages[name] = p
	}
	return p
}

// place puts v under name, unless the name is empty or taken.
func place[T any](w *World, m map[string]T, name string, v T) error {
	if name == "" {
		return fmt.Errorf("a line or bus of the part has no name: give it one")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := m[name]; ok {
		return fmt.Errorf("%s: %w by another part", name, drivers.ErrInUse)
	}
	m[name] = v
	return nil
}

// find returns what is called name.
func find[T any](w *World, m map[string]T, name string) (T, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	v, ok := m[name]
	if !ok {
		return v, fmt.Errorf("%s: %w: a simulated one has the names of its plan, the demo those of configs/demo-world.yaml", name, drivers.ErrNoLine)
	}
	return v, nil
}

// holder is what at most one driver holds at a time.
type holder struct {
	mu   sync.Mutex
	held bool
}

func (h *holder) taken() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.held
}

func (h *holder) take(name string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held {
		return fmt.Errorf("%s: %w", name, drivers.ErrInUse)
	}
	h.held = true
	return nil
}

func (h *holder) give() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held = false
}

// grip is a driver's hold on a line; closing it is idempotent.
type grip struct {
	once   sync.Once
	h      *holder
	closed chan struct{}
}

func newGrip(h *holder) grip { return grip{h: h, closed: make(chan struct{})} }

// Close gives the line back, as it is.
func (g *grip) Close() error {
	g.once.Do(func() {
		close(g.closed)
		g.h.give()
	})
	return nil
}
