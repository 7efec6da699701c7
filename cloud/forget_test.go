package cloud

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"time"
)

// TestFewRowsAreForgottenTogether, and many soon: what comes twice after a power
// cut is bounded by rows as well as by time.
func TestFewRowsAreForgottenTogether(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		p := newPlant(t, UplinkOptions{Acks: AcksBroker, ForgetWithin: 10 * time.Second})
		time.Sleep(soon)
		for range 100 {
			p.box.add(1)
			p.up.Wake()
			time.Sleep(time.Second)
		}
		if n := p.box.steps(); n < 9 || n > 12 {
			t.Errorf("a row each second was forgotten in %d steps in 100 s, want about ten", n)
		}
		if behind := uint64(100) - p.box.forgotten(); behind > 11 {
			t.Errorf("%d rows were acknowledged and not forgotten, want those of ten seconds", behind)
		}
		time.Sleep(10 * time.Second)
		if got := p.box.forgotten(); got != 100 {
			t.Errorf("forgot up to %d of 100 rows", got)
		}
		p.box.add(1) // begins a pause
		p.up.Wake()
		time.Sleep(time.Second)
		p.box.add(2 * forgetRows)
		p.up.Wake()
		time.Sleep(2 * time.Second)
		if got := p.box.forgotten(); got < 100+forgetRows {
			t.Errorf("two seconds after %d rows it forgot up to %d", 2*forgetRows, got)
		}
	})
}

// TestTheEndIsNoFailure: who ends a gateway reads of no error when the outbox was just about
// to forget.
func TestTheEndIsNoFailure(t *testing.T) {
	var said bytes.Buffer
	var box rows
	box.add(5)
	u := NewUplink(NewLink(LinkOptions{URL: "mqtt://cloud", ClientID: "g", Log: quiet}), &box, UplinkOptions{Acks: AcksBroker, Log: slog.New(slog.NewTextHandler(&said, nil)), History: box.history})
	u.stats.Acked = 5
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	var forgotten uint64
	u.forgetUpTo(ended, &forgotten)
	if said.Len() > 0 || forgotten != 0 || len(u.done) != 0 {
		t.Errorf("it says %q, and has forgotten up to %d", said.String(), forgotten)
	}
	u.forgetUpTo(t.Context(), &forgotten)
	if forgotten != 5 || box.forgotten() != 5 {
		t.Errorf("at last it has forgotten up to %d", forgotten)
	}
}
