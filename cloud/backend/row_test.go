package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
			payload, _ := cloud.Envelope{ID: fmt.Sprint("boot-", m.seq), Source: "roomgate/g", Type: "roomgate." + m.level,
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

// unstored publishes a receipt that the log of the gateway did not take, with the number of a row as older gateways send it,
// or with none.
func (g *gateway) unstored(t *testing.T, id, command, data string, seq uint64) {
	t.Helper()
	payload, _ := cloud.Envelope{ID: id, Source: "roomgate/g", Type: "roomgate.receipt", Sequence: seq, BootID: g.boot,
		Data: json.RawMessage(`{"command_id":"` + command + `","state":"rejected"` + data + `}`)}.Encode()
	if err := g.link.Publish(t.Context(), cloud.Message{Topic: cloud.Topics{Gateway: "g"}.Up("receipt"), Payload: payload, QoS: 1}); err != nil {
		t.Fatal(err)
	}
}

// TestUnstoredReceiptsTakeNoRow: 200 receipts that no log has come before and between the rows of a backlog, some with the
// number of a row that is still to come. Whoever waits hears each, also while the handler takes nothing, and each row is
// handed on once.
func TestUnstoredReceiptsTakeNoRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		b, g := s.backend(), s.gateway()
		r, rows := reader{}, map[uint64]int{}
		full := true
		s.start(func(ctx context.Context) error {
			return b.Consume(ctx, NewMemory(), func(ctx context.Context, tx Tx, e Received) error {
				r.mu.Lock()
				stopped := full
				if !stopped && e.Row {
					rows[e.Sequence]++
				}
				r.mu.Unlock()
				if stopped {
					return errors.New("database is full")
				}
				return r.take(ctx, tx, e)
			})
		})
		time.Sleep(3 * time.Second)
		const backlog, most = 500, 200
		g.add(backlog / 5)
		for n := range most {
			answered := make(chan error, 1)
			go func() {
				_, err := b.Command(t.Context(), "g", Command{TTL: 20})
				answered <- err
			}()
			synctest.Wait()
			commands := g.heardOf("roomgate.command")
			id, durable := commands[len(commands)-1].ID, []string{`,"durable":false`, ""}[n%2]
			g.unstored(t, fmt.Sprintf("01KBS%021d", n), id, durable, []uint64{0, uint64(backlog - n), uint64(n + 1)}[n%3])
			if err := <-answered; err != nil {
				t.Fatalf("receipt %d: %v", n, err)
			}
			if n == most/2 {
				r.mu.Lock()
				full = false
				r.mu.Unlock()
				g.add(backlog * 4 / 5)
			}
		}
		time.Sleep(5 * time.Minute)
		for n := range uint64(backlog) {
			if rows[n+1] != 1 {
				t.Errorf("row %d was handed on %d times", n+1, rows[n+1])
			}
		}
		all, receipts := r.heard(), 0
		for _, level := range all {
			if level == "receipt" {
				receipts++
			}
		}
		if marked := len(r.marked()); marked != backlog || receipts < most {
			t.Errorf("%d rows and %d receipts were handed on, want %d and at least %d", marked, receipts, backlog, most)
		}
		if n := g.forgotten(); n != backlog {
			t.Errorf("the gateway forgot up to %d of %d", n, backlog)
		}
	})
}
