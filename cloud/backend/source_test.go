package backend

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/cloud"
)

// brought is a source that brings what it is told to.
type brought struct {
	mu      sync.Mutex
	deliver func(context.Context, cloud.Message, func())
	left    func(string)
	taken   int
}

func (s *brought) Run(ctx context.Context, deliver func(context.Context, cloud.Message, func()), left func(string)) error {
	s.mu.Lock()
	s.deliver, s.left = deliver, left
	s.mu.Unlock()
	<-ctx.Done()
	return nil
}

func (s *brought) bring(t *testing.T, m cloud.Message) {
	s.mu.Lock()
	deliver := s.deliver
	s.mu.Unlock()
	deliver(t.Context(), m, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.taken++
	})
}

// Rows come by the source, once, and are acknowledged to the gateway by the session, which also hears what
// the gateway says of itself. A gateway that is left is asked for nothing and told nothing.
func TestSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, g := newSite(t), &brought{}
		at := s.gateway()
		b, err := Open(Options{URL: "mqtt://cloud", ClientID: "backend", Dial: s.dial("backend"), Source: g, Log: quiet})
		if err != nil {
			t.Fatal(err)
		}
		var r reader
		s.start(func(ctx context.Context) error { return b.Consume(ctx, NewMemory(), r.take) })
		time.Sleep(3 * time.Second)
		for _, seq := range []uint64{1, 2, 2, 3} {
			g.bring(t, at.event(seq))
		}
		_ = at.link.Publish(t.Context(), at.event(9)) // the session does not bring it
		time.Sleep(3 * time.Second)
		rows := r.all()
		g.mu.Lock()
		taken, left := g.taken, g.left
		g.mu.Unlock()
		if fmt.Sprint(rows) != "[1 2 3]" || taken != 4 {
			t.Errorf("rows %v are handed on and %d messages are taken: want 1 to 3, and 4", rows, taken)
		}
		if acks := at.heardOf("roomgate.ack"); len(acks) == 0 || string(acks[len(acks)-1].Data) != `{"sequence":3}` {
			t.Errorf("acknowledged %+v", acks)
		}
		g.bring(t, at.event(6)) // 4 and 5 are missing
		time.Sleep(time.Second)
		left("g")
		time.Sleep(5 * time.Minute)
		if asked := at.heardOf("roomgate.replay"); len(asked) != 0 {
			t.Errorf("a gateway that was left was asked for %+v", asked)
		}
		if _, err := Open(Options{URL: "mqtt://cloud", ClientID: "x", Source: g, Gateway: "g"}); err == nil {
			t.Error("a source was opened for one gateway")
		}
	})
}
