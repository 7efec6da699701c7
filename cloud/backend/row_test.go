package backend

import (
	"slices"
	"testing"
	"time"

	"roomgate/cloud"
)

// A state, a heartbeat and a presence carry the sequence of the last row that
// was written by then. One that overtakes its row must not stand for it, or the
// row would be left out and acknowledged.
func TestRowIsNotLostToAMessageThatOvertakesIt(t *testing.T) {
	b, err := Open(Options{URL: "mqtt://127.0.0.1", ClientID: "backend"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range []struct {
		level string
		seq   uint64
	}{{"event", 1}, {"state", 2}, {"heartbeat", 2}, {"presence", 2}, {"event", 2}, {"receipt", 3}, {"event", 2}, {"state", 3}, {"message", 4}, {"message", 4}, {"booking", 5}} {
		payload, err := cloud.Envelope{ID: m.level + time.Now().String(), Source: "roomgate/hq", Type: "roomgate." + m.level,
			Sequence: m.seq, BootID: "boot"}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		err = b.receive(cloud.Message{Topic: cloud.Topics{Gateway: "hq"}.Up(m.level), Payload: payload},
			func(_, level string, e cloud.Envelope) error { got = append(got, level); return nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"event", "state", "heartbeat", "presence", "event", "receipt", "state", "message", "booking"}
	if !slices.Equal(got, want) {
		t.Errorf("handed on were %q, want %q", got, want)
	}
	if due := b.ledgers["hq"].due(); due != 5 {
		t.Errorf("to be acknowledged is %d, want 5", due)
	}
}
