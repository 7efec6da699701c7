package hub

import (
	"context"
	"fmt"
	"sync/atomic"

	"roomgate/drivers"
)

// part is one sub-device. poll and do come one at a time, close comes last and
// is called once.
type part interface {
	describe() drivers.SubDevice
	poll(ctx context.Context) drivers.Status // Sub is filled in by the hub
	do(ctx context.Context, c drivers.Command) (drivers.Status, error)
	close() error
}

// watcher is a part that speaks by itself.
type watcher interface {
	watch(ctx context.Context, changed func()) error
}

// hub is one opened hub.
type hub struct {
	parts  []part
	closed atomic.Bool
}

// Describe says what the hub has and takes.
func (h *hub) Describe() drivers.Description {
	d := drivers.Description{
		Type:    drivers.TypeO3,
		Driver:  "o3-parts",
		Summary: "a sensor hub: temperature, occupancy, buzzer and ring light",
	}
	for _, p := range h.parts {
		d.Subs = append(d.Subs, p.describe())
	}
	return d
}

// Poll observes the hub, whose value is empty, and each of its parts.
func (h *hub) Poll(ctx context.Context) ([]drivers.Status, error) {
	if err := h.ready(ctx); err != nil {
		return nil, err
	}
	all := []drivers.Status{{}}
	var failed error
	for _, p := range h.parts {
		s := p.poll(ctx)
		s.Sub = p.describe().Name
		if s.Err != nil && failed == nil {
			failed = s.Err
		}
		if s.Err == nil {
			all[0].ObservedAt, all[0].Source = s.ObservedAt, "parts"
		}
		all = append(all, s)
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if all[0].Source == "" {
		return nil, fmt.Errorf("no part answers: %w", failed)
	}
	return all, nil
}

// Do hands the order to the part.
func (h *hub) Do(ctx context.Context, c drivers.Command) (drivers.Status, error) {
	if err := h.ready(ctx); err != nil {
		return drivers.Status{}, err
	}
	if _, _, ok := h.Describe().Action(c.Sub, c.Action); !ok {
		return drivers.Status{}, drivers.ErrUnsupported
	}
	for _, p := range h.parts {
		if p.describe().Name == c.Sub {
			s, err := p.do(ctx, c)
			s.Sub = c.Sub
			return s, err
		}
	}
	return drivers.Status{}, drivers.ErrUnsupported
}

func (h *hub) ready(ctx context.Context) error {
	if h.closed.Load() {
		return drivers.ErrClosed
	}
	return context.Cause(ctx)
}

// Watch reports changes of the parts that speak by themselves.
func (h *hub) Watch(ctx context.Context, report func(drivers.Event)) error {
	for _, p := range h.parts {
		if w, ok := p.(watcher); ok { // one part does, so no second loop is needed
			sub := p.describe().Name
			return w.watch(ctx, func() { report(changed(sub)) })
		}
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

// Close silences and darkens the hub and gives its lines back.
func (h *hub) Close() error {
	if h.closed.Swap(true) {
		return nil
	}
	var err error
	for _, p := range h.parts {
		if e := p.close(); err == nil {
			err = e
		}
	}
	return err
}
