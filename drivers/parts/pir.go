package parts

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"roomgate/drivers"
)

// pir is the infrared sensor: the room is occupied while its line is high and
// for the hold time after.
type pir struct {
	line drivers.Input
	name string
	hold time.Duration

	mu    sync.Mutex
	high  bool      // as last read or heard
	moved time.Time // when there was motion last; zero: never
}

func (p *pir) describe() drivers.SubDevice {
	return drivers.SubDevice{
		Name:    drivers.SubOccupancy,
		Summary: fmt.Sprintf("whether anybody moved in the last %v", p.hold),
		Values:  []string{drivers.Occupied, drivers.Vacant},
	}
}

func (p *pir) title() string { return "pir " + p.name }

func (p *pir) poll(context.Context) drivers.Status {
	high, err := p.line.Read()
	if err != nil {
		return drivers.Status{Err: fmt.Errorf("%s: %w", p.title(), err)}
	}
	now := time.Now()
	p.note(high, now)
	s := drivers.Status{Value: drivers.Vacant, ObservedAt: now, Source: "pir line"}
	if p.left(now) > 0 {
		s.Value = drivers.Occupied
	}
	return s
}

// note takes down a level. Until the moment at which the line falls there was
// motion as well.
func (p *pir) note(high bool, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if (high || p.high) && at.After(p.moved) {
		p.moved = at
	}
	p.high = high
}

// left is for how long the room still counts as occupied, if the line stays as
// it is or falls now.
func (p *pir) left(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.high:
		return p.hold
	case p.moved.IsZero():
		return 0
	}
	return max(0, p.moved.Add(p.hold).Sub(now))
}

// watch calls changed when the room becomes occupied or vacant.
func (p *pir) watch(ctx context.Context, changed func()) error {
	g, ctx := errgroup.WithContext(ctx)
	edges := make(chan struct{}, 1)
	g.Go(func() error {
		return p.line.Edges(ctx, func(e drivers.Edge) {
			p.note(e.High, e.At)
			select {
			case edges <- struct{}{}:
			default: // one waits already
			}
		})
	})
	g.Go(func() error { return p.follow(ctx, edges, changed) })
	return g.Wait()
}

// follow does not read the line, which takes no context: edges and polls do.
func (p *pir) follow(ctx context.Context, edges <-chan struct{}, changed func()) error {
	occupied := p.left(time.Now()) > 0
	over := time.NewTimer(p.hold)
	defer over.Stop()
	for {
		left := p.left(time.Now())
		if now := left > 0; now != occupied {
			occupied = now
			changed()
		}
		over.Stop()
		if occupied {
			over.Reset(left)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-edges:
		case <-over.C:
		}
	}
}

func (p *pir) do(context.Context, drivers.Command) (drivers.Status, error) {
	return drivers.Status{}, drivers.ErrUnsupported
}

func (p *pir) close() error { return p.line.Close() }

// changed is the event that asks for a poll of a sub-device.
func changed(sub string) drivers.Event {
	return drivers.Event{Type: drivers.EventChanged, Sub: sub, Time: time.Now()}
}
