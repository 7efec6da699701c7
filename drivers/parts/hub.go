package parts

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"roomgate/drivers"
)

// part is one sub-device. poll and do come one at a time, close comes last and
// is called once.
type part interface {
	describe() drivers.SubDevice
	title() string                           // the hardware by its name, as "tmp102 0x48"
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
	parts  []*seat
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
	all := make([]drivers.Status, 1+len(h.parts)) // the hub itself first
	h.observe(ctx, all[1:])
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	var failed error
	for _, s := range all[1:] {
		switch {
		case s.Err == nil && !s.ObservedAt.Before(all[0].ObservedAt):
			all[0].ObservedAt, all[0].Source = s.ObservedAt, "parts"
		case s.Err != nil && failed == nil:
			failed = s.Err
		}
	}
	if all[0].Source == "" {
		return nil, fmt.Errorf("no part answers: %w", failed)
	}
	return all, nil
}

// observe asks all parts at once, so that one that hangs costs the others
// nothing but its time.
func (h *hub) observe(ctx context.Context, into []drivers.Status) {
	ctx, cancel := impatient(ctx)
	defer cancel()
	var asking sync.WaitGroup
	for i, p := range h.parts {
		asking.Go(func() { into[i] = p.observe(ctx) })
	}
	asking.Wait()
}

// Do hands the command to the part.
func (h *hub) Do(ctx context.Context, c drivers.Command) (drivers.Status, error) {
	if err := h.ready(ctx); err != nil {
		return drivers.Status{}, err
	}
	if _, _, ok := h.Describe().Action(c.Sub, c.Action); !ok {
		return drivers.Status{}, drivers.ErrUnsupported
	}
	for _, p := range h.parts {
		if p.describe().Name == c.Sub {
			return p.command(ctx, c)
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
		if w, ok := p.part.(watcher); ok { // one part does, so no second loop is needed
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
