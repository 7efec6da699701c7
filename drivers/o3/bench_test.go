package o3_test

import (
	"context"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/o3"
	"roomgate/drivers/sim"
	"roomgate/drivers/sim/peers"
)

// room is a world that counts how often somebody is called.
type room struct {
	*sim.World
	mu    sync.Mutex
	dials []time.Time
}

func (r *room) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	r.mu.Lock()
	r.dials = append(r.dials, time.Now())
	r.mu.Unlock()
	return r.World.Dial(ctx, network, address)
}

func (r *room) dialled() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.dials)
}

// bench is a hub, its driver and the room, in virtual time.
type bench struct {
	*testing.T
	room *room
	hub  *peers.O3
	drivers.Driver
}

func with(t *testing.T, h *peers.O3, o *o3.Options, test func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &room{World: sim.NewWorld()}
		defer r.Close()
		if err := r.Add("room", "o3-sensor", h); err != nil {
			t.Fatal(err)
		}
		d, err := o.Open(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		test(&bench{t, r, h, d})
	})
}

// value polls and returns the value of a sub-device, or its error.
func (b *bench) value(sub string) (string, error) {
	b.Helper()
	all, err := b.Poll(b.Context())
	synctest.Wait() // a first message may come before the subscription is acknowledged, and nothing is sent until then
	if err != nil {
		return "", err
	}
	for _, s := range all {
		if s.Sub == sub {
			return s.Value, s.Err
		}
	}
	b.Fatalf("no status of %s in %v", sub, all)
	return "", nil
}

func (b *bench) want(sub, want string) {
	b.Helper()
	if got, err := b.value(sub); err != nil || got != want {
		b.Errorf("%s: got %q, %v, want %q", sub, got, err, want)
	}
}

func (b *bench) do(sub, action, value string) (drivers.Status, error) {
	b.Helper()
	a, _, _ := b.Describe().Action(sub, action)
	args, err := a.Parse([]byte(value))
	if err != nil {
		b.Fatal(err)
	}
	return b.Do(b.Context(), drivers.Command{Sub: sub, Action: action, Args: args})
}
