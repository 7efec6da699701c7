package backend

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestGapIsAskedForAndGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		b, g := s.backend(), s.gateway()
		var r reader
		s.start(func(ctx context.Context) error { return b.Consume(ctx, NewMemory(), r.take) })
		time.Sleep(3 * time.Second)
		for _, seq := range []uint64{1, 2, 5, 6} {
			_ = g.link.Publish(t.Context(), g.event(seq))
		}
		time.Sleep(15 * time.Second)
		asked := g.heardOf("roomgate.replay")
		if len(asked) != 1 || string(asked[0].Data) != `{"from":3,"to":4}` {
			t.Fatalf("the gateway was asked for %+v", asked)
		}
		if acks := g.heardOf("roomgate.ack"); string(acks[len(acks)-1].Data) != `{"sequence":2}` {
			t.Errorf("acknowledged %s", acks[len(acks)-1].Data)
		}
		time.Sleep(time.Hour) // a gateway that says nothing may still have them
		if acks := g.heardOf("roomgate.ack"); string(acks[len(acks)-1].Data) != `{"sequence":2}` {
			t.Errorf("in silence, acknowledged %s", acks[len(acks)-1].Data)
		}
		for seq := range uint64(4) {
			_ = g.link.Publish(t.Context(), g.event(seq+7))
			time.Sleep(4 * time.Second)
		}
		if acks := g.heardOf("roomgate.ack"); string(acks[len(acks)-1].Data) != `{"sequence":10}` {
			t.Errorf("after giving up, acknowledged %s", acks[len(acks)-1].Data)
		}
	})
}

func TestGapIsFilledByReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		b, g := s.backend(), s.gateway()
		var r reader
		ledger := NewMemory()
		s.start(func(ctx context.Context) error { return b.Consume(ctx, ledger, r.take) })
		time.Sleep(3 * time.Second)
		g.add(10)
		synctest.Wait()
		b.mu.Lock()
		l := b.progress["g"]
		l.ranges = []span{{1, 3}, {6, 10}} // as if the broker had dropped two
		l.acked = 3
		ledger.rows["g"] = l.encode()
		b.mu.Unlock()
		time.Sleep(10 * time.Second)
		got := r.all()
		if len(got) != 12 || got[10] != 4 || got[11] != 5 || g.forgotten() != 10 {
			t.Errorf("handed on %v, the gateway forgot up to %d", got, g.forgotten())
		}
	})
}

func TestGatewayThatLostItsStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		b, g := s.backend(), s.gateway()
		var r reader
		s.start(func(ctx context.Context) error { return b.Consume(ctx, NewMemory(), r.take) })
		time.Sleep(3 * time.Second)
		for _, boot := range []string{"b1", "b2"} {
			g.boot = boot
			for seq := range uint64(5) {
				for range 2 {
					_ = g.link.Publish(t.Context(), g.event(seq+1))
				}
			}
		}
		synctest.Wait()
		if got := r.all(); !slices.Equal(got, []uint64{1, 2, 3, 4, 5, 1, 2, 3, 4, 5}) {
			t.Errorf("handed on %v", got)
		}
	})
}
