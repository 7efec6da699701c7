package backend

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/cloud"
)

// A state, a heartbeat and a presence carry the sequence of the last row that
// was written by then. One that overtakes its row must not stand for it, or the
// row would be left out and acknowledged.
func TestRowIsNotLostToAMessageThatOvertakesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		b, g := s.backend(), s.gateway()
		var r reader
		s.start(func(ctx context.Context) error { return b.Consume(ctx, NewMemory(), r.take) })
		time.Sleep(3 * time.Second)
		for _, m := range []struct {
			level string
			seq   uint64
		}{{"event", 1}, {"state", 2}, {"heartbeat", 2}, {"presence", 2}, {"event", 2}, {"receipt", 3}, {"event", 2}, {"state", 3}, {"message", 4}, {"message", 4}, {"booking", 5}} {
			payload, _ := cloud.Envelope{ID: m.level + time.Now().String(), Source: "roomgate/g", Type: "roomgate." + m.level,
				Sequence: m.seq, BootID: "boot"}.Encode()
			if err := g.link.Publish(t.Context(), cloud.Message{Topic: cloud.Topics{Gateway: "g"}.Up(m.level), Payload: payload, QoS: 1}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(3 * time.Second)
		want := []string{"event", "state", "heartbeat", "presence", "event", "receipt", "state", "message", "booking"}
		if got := r.marked(); !slices.Equal(got, []string{"event", "event", "receipt", "message", "booking"}) {
			t.Errorf("marked as rows were %q", got)
		}
		if got := r.heard(); !slices.Equal(got, want) {
			t.Errorf("handed on were %q, want %q", got, want)
		}
		if acks := g.heardOf("roomgate.ack"); len(acks) == 0 || string(acks[len(acks)-1].Data) != `{"sequence":5}` {
			t.Errorf("acknowledged was %v, want 5", acks)
		}
	})
}
