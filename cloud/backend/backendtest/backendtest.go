// Package backendtest plays a gateway against a backend: its log comes twice, with gaps, out
// of order, over cut connections and over restarts of both sides. The backend passes if
// each row is stored exactly once.
//
//	func TestBackend(t *testing.T) {
//		backendtest.Run(t, func(t *testing.T) backendtest.Subject { ... })
//	}
package backendtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

// Subject is a backend under test.
type Subject struct {
	// Start begins to consume from the broker at url, of all gateways, under a client id
	// that is the same each time. kill ends it at once, as a crash would, and returns when it
	// has ended. It is started again after that, upon what it has stored.
	Start func(url string) (kill func(), err error)
	// Stored are the ids of the rows that it has stored, each as often as it is stored.
	Stored func() ([]string, error)
}

// patience is how long a backend may take to store all rows: a gap is asked for after
// seconds, and a row without an acknowledgement comes again after a minute.
const patience = 100 * time.Second

// rows is how many a scenario has.
const rows = 200

// scenario plays its part of a gateway's life; all rows are on their way when it returns.
type scenario struct {
	name string
	play func(g *Gateway, s *running) error
}

var scenarios = []scenario{
	{"in order", func(g *Gateway, _ *running) error { g.Add(rows); return nil }},
	{"everything twice", func(g *Gateway, _ *running) error {
		g.Add(rows)
		return g.Repeat(1, rows)
	}},
	{"gaps", func(g *Gateway, _ *running) error {
		g.Lose(17, 18, 90) // the broker takes them and drops them
		g.Add(rows)
		return nil
	}},
	{"out of order", func(g *Gateway, _ *running) error {
		g.Hold()
		g.Add(rows)
		for seq := uint64(rows + 1); seq > 1; seq-- {
			if err := g.Repeat(seq, seq); err != nil {
				return err
			}
		}
		g.Release()
		return nil
	}},
	{"lost connections", func(g *Gateway, _ *running) error {
		for range 5 {
			g.Add(rows / 5)
			g.Cut()
		}
		return nil
	}},
	{"a gateway that starts again", func(g *Gateway, _ *running) error {
		g.Add(rows / 2)
		g.Restart()
		g.Add(rows / 2)
		return nil
	}},
	{"a backend that is killed", func(g *Gateway, s *running) error {
		for range 4 {
			g.Add(rows / 4)
			if err := s.crash(g); err != nil {
				return err
			}
		}
		return nil
	}},
	{"a backend that was away", func(g *Gateway, s *running) error {
		s.kill()
		g.Add(rows)
		g.Expire("c1", "c2")
		return s.start()
	}},
}

// running is a backend that may be killed.
type running struct {
	Subject
	url  string
	kill func()
}

func (r *running) start() (err error) {
	r.kill, err = r.Start(r.url)
	return err
}

// crash kills the backend while it stores, and starts it again.
func (r *running) crash(g *Gateway) error {
	before, err := r.Stored()
	for err == nil {
		all, e := r.Stored()
		if err = e; len(all) > len(before) || len(all) >= g.Rows() {
			break
		}
		time.Sleep(time.Millisecond)
	}
	r.kill()
	return errors.Join(err, r.start())
}

// Run plays every scenario against a backend of its own, which open makes.
func Run(t *testing.T, open func(t *testing.T) Subject) {
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			if err := sc.run(t.Context(), open(t)); err != nil {
				t.Error(err)
			}
		})
	}
}

// run plays one scenario.
func (sc scenario) run(ctx context.Context, subject Subject) error {
	g, err := Open()
	if err != nil {
		return err
	}
	defer g.Close()
	s := &running{Subject: subject, url: g.URL()}
	if err := s.start(); err != nil {
		return err
	}
	defer func() { s.kill() }()
	if err := s.meet(g); err != nil {
		return err
	}
	if err := sc.play(g, s); err != nil {
		return err
	}
	return s.settle(ctx, g)
}

// meet waits until the backend has heard the gateway once.
func (r *running) meet(g *Gateway) error {
	g.Add(1)
	for began := time.Now(); !g.Forgotten(); time.Sleep(50 * time.Millisecond) {
		if time.Since(began) > patience {
			return errors.New("the backend does not acknowledge the first row")
		}
		if err := g.Repeat(1, 1); err != nil {
			return err
		}
	}
	return nil
}

// settle waits until every row is stored, and says which is not, or more than once.
func (r *running) settle(ctx context.Context, g *Gateway) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		all, err := r.Stored()
		if err != nil {
			return err
		}
		slices.Sort(all)
		if once := slices.Compact(slices.Clone(all)); len(once) < len(all) {
			return fmt.Errorf("%d rows are stored more than once", len(all)-len(once))
		}
		done := slices.Equal(all, g.IDs())
		if done && g.Forgotten() {
			return nil
		}
		select {
		case <-ctx.Done():
			if done {
				return errors.New("all rows are stored, and the gateway was not told: it keeps them for ever")
			}
			return fmt.Errorf("%d of %d rows are stored", len(all), g.Rows())
		case <-time.After(20 * time.Millisecond):
		}
	}
}
