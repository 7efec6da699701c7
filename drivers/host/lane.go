package host

import (
	"fmt"
	"sync"
	"time"
)

const (
	// laneWait is how long a transaction may take, waiting for its turn
	// included. The kernel's own limit is a second a message, and not every
	// driver keeps it.
	laneWait = 2 * time.Second
	// laneTrips is how many times in a row a bus may hang before it rests.
	laneTrips = 3
	// laneRest is how long nobody is let onto a bus that hangs; then one is.
	laneRest = 5 * time.Second
)

// lane is the worker of one bus: one transaction at a time, each within a
// deadline, which the kernel's calls do not take. A transaction that hangs
// keeps its goroutine and the bus, never the caller; there is at most one.
type lane struct {
	name string
	turn chan struct{} // holds one token while a transaction runs

	mu    sync.Mutex
	hung  int       // how many in a row
	until time.Time // the bus rests
}

func newLane(name string) *lane { return &lane{name: name, turn: make(chan struct{}, 1)} }

// run runs f, which must not touch what the caller goes on to use: after an
// error it may still run.
func (l *lane) run(f func() error) error {
	if err := l.rests(); err != nil {
		return err
	}
	late := time.NewTimer(laneWait)
	defer late.Stop()
	select {
	case l.turn <- struct{}{}:
	case <-late.C:
		return l.trip()
	}
	done := make(chan error, 1)
	go func() {
		err := f()
		<-l.turn
		done <- err
	}()
	select {
	case err := <-done:
		l.passed()
		return err
	case <-late.C:
		return l.trip()
	}
}

func (l *lane) rests() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Now().Before(l.until) {
		return fmt.Errorf("%s hangs and is left alone for %v: see whether a chip holds its wires", l.name, laneRest)
	}
	return nil
}

func (l *lane) trip() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hung++; l.hung >= laneTrips {
		l.until = time.Now().Add(laneRest)
	}
	return fmt.Errorf("%s does not answer within %v", l.name, laneWait)
}

func (l *lane) passed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hung, l.until = 0, time.Time{}
}
