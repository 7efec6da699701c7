package wiegand

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"roomgate/drivers"
)

const (
	// pauseBetween ends a message: longer than any pause within one.
	pauseBetween = 25 * time.Millisecond
	// quiet is how long nothing must come before messages are read: the two
	// lines are heard separately, and one may be told late.
	quiet = 2 * pauseBetween
	// maxPulses bounds what is kept of a line that is never quiet.
	maxPulses = 256
)

// Reader is a keypad or card reader on its two lines.
type Reader struct {
	lines [2]drivers.Input
	names [2]string
}

// Open takes the two lines. Closing the reader gives them back.
func Open(b drivers.Buses, d0, d1 string) (*Reader, error) {
	r := &Reader{names: [2]string{d0, d1}}
	for i, name := range r.names {
		line, err := b.Pulses(name, drivers.PullUp)
		if err != nil {
			_ = r.Close() // the first error is the one to tell
			return nil, fmt.Errorf("keypad line %s: %w", name, err)
		}
		r.lines[i] = line
	}
	return r, nil
}

// Close gives the lines back.
func (r *Reader) Close() error {
	var all error
	for _, line := range r.lines {
		if line != nil {
			all = errors.Join(all, line.Close())
		}
	}
	return all
}

// pulse is one bit.
type pulse struct {
	bit uint64
	at  time.Time
}

// Watch reports cards and codes until ctx ends or a line is lost.
func (r *Reader) Watch(ctx context.Context, report func(drivers.Event)) error {
	g, ctx := errgroup.WithContext(ctx)
	pulses := make(chan pulse, maxPulses)
	for i, line := range r.lines {
		g.Go(func() error {
			err := line.Edges(ctx, func(e drivers.Edge) {
				select {
				case pulses <- pulse{uint64(i), e.At}:
				default: // noise; what it spoils has a wrong parity
				}
			})
			return fmt.Errorf("keypad line %s: %w", r.names[i], err)
		})
	}
	g.Go(func() error { return listen(ctx, pulses, &code{report: report}) })
	return g.Wait()
}

// listen collects pulses until they pause.
func listen(ctx context.Context, pulses <-chan pulse, c *code) error {
	still, late := stopped(), stopped()
	defer still.Stop()
	defer late.Stop()
	var heard []pulse
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case p := <-pulses:
			if heard = append(heard, p); len(heard) < maxPulses {
				still.Reset(quiet)
				continue
			}
		case <-still.C:
		case <-late.C:
			c.end(time.Now())
			continue
		}
		for _, m := range messages(heard) {
			c.take(m)
		}
		heard = heard[:0]
		late.Stop()
		if c.begun() {
			late.Reset(codePause)
		}
	}
}

// stopped is a timer that is yet to be set.
func stopped() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

// message is what came between two pauses.
type message struct {
	bits uint64
	n    int
	at   time.Time // of its last bit
}

// messages puts pulses into the order in which they came and parts them where
// they pause.
func messages(heard []pulse) []message {
	slices.SortStableFunc(heard, func(a, b pulse) int { return a.at.Compare(b.at) })
	var all []message
	for _, p := range heard {
		if len(all) == 0 || p.at.Sub(all[len(all)-1].at) > pauseBetween {
			all = append(all, message{})
		}
		m := &all[len(all)-1]
		m.bits, m.n, m.at = m.bits<<1|p.bit, m.n+1, p.at
	}
	return all
}
