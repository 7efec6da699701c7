package backend

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/cloud"
)

// heard keeps the ids of rows, and which of them are contested.
type heard struct {
	mu        sync.Mutex
	ids       []string
	contested []string
}

func (h *heard) take(_ context.Context, _ Tx, r Received) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ids = append(h.ids, r.ID)
	if r.Contested {
		h.contested = append(h.contested, r.ID)
	}
	return nil
}

func (h *heard) want(t *testing.T, ids, contested []string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Equal(h.ids, ids) {
		t.Errorf("handed on were %q, want %q", h.ids, ids)
	}
	if !slices.Equal(h.contested, contested) {
		t.Errorf("contested are %q, want %q", h.contested, contested)
	}
}

// tell lets a start of a gateway send rows, each twice.
func (g *gateway) tell(t *testing.T, boot string, sequences ...uint64) {
	t.Helper()
	g.boot = boot
	for _, seq := range sequences {
		for range 2 {
			if err := g.link.Publish(t.Context(), g.event(seq)); err != nil {
				t.Fatal(err)
			}
		}
	}
	time.Sleep(3 * time.Second)
}

func (g *gateway) lastAck() string {
	acks := g.heardOf("roomgate.ack")
	if len(acks) == 0 {
		return ""
	}
	return string(acks[len(acks)-1].Data)
}

// A clone and its original are told apart: each row of both is handed on once, and while both
// live neither hears an acknowledgement of the other's rows.
func TestCloneIsToldApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		b, g := s.backend(), s.gateway()
		var h heard
		s.start(func(ctx context.Context) error { return b.Consume(ctx, NewMemory(), h.take) })
		time.Sleep(3 * time.Second)
		g.tell(t, "a", 1, 2, 3)
		g.tell(t, "b", 4, 5) // it may be the same one, started again
		if got := g.lastAck(); got != `{"sequence":5}` {
			t.Errorf("acknowledged is %s", got)
		}
		g.tell(t, "a", 4, 5, 6)
		g.tell(t, "b", 6, 7)
		g.tell(t, "a", 7)
		ids, aside := []string{"a-1", "a-2", "a-3", "b-4", "b-5", "a-4", "a-5", "a-6", "b-6", "b-7", "a-7"}, []string{"a-4", "a-5", "a-6", "a-7"}
		h.want(t, ids, aside)
		if got := g.lastAck(); got != `{"sequence":5}` {
			t.Errorf("while two have one id, acknowledged is %s", got)
		}
		if state, _ := b.State("g"); state.Contested.IsZero() {
			t.Error("nobody sees that two have one id")
		}
		time.Sleep(contestTime)
		g.tell(t, "b", 8)
		h.want(t, append(ids, "b-8"), aside)
		if got := g.lastAck(); got != `{"sequence":8}` {
			t.Errorf("an hour after the clone was heard last, acknowledged is %s", got)
		}
	})
}

// A gateway that was restored from a backup writes other rows under sequences that it has
// used. They are handed on, those from before the backup are not again, and the one that it
// was restored from is a clone if it is still there. The ledger knows it over a restart.
func TestRestoredGatewayIsToldApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		b, g := s.backend(), s.gateway()
		ledger, err := OpenFile(filepath.Join(t.TempDir(), "ledger.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer ledger.Close()
		var h heard
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { _ = b.Consume(ctx, ledger, h.take); close(ended) }()
		time.Sleep(3 * time.Second)
		g.tell(t, "a", 1, 2, 3, 4, 5, 6)
		g.tell(t, "a", 3, 4) // the backup is of here, and knew of no acknowledgement
		g.tell(t, "b", 5)
		stop()
		<-ended
		b = s.backend()
		s.start(func(ctx context.Context) error { return b.Consume(ctx, ledger, h.take) })
		time.Sleep(3 * time.Second)
		g.tell(t, "b", 6, 7)
		g.tell(t, "a", 1, 2, 3, 4) // what the backend has asked for
		ids := []string{"a-1", "a-2", "a-3", "a-4", "a-5", "a-6", "b-5", "b-6", "b-7"}
		h.want(t, ids, nil)
		if got := g.lastAck(); got != `{"sequence":7}` {
			t.Errorf("acknowledged is %s", got)
		}
		g.tell(t, "a", 5, 6, 7)
		h.want(t, append(ids, "a-7"), []string{"a-7"})
	})
}

// A restored gateway that has much to send hears no acknowledgement beyond what it has sent
// since it connected: it would forget rows of its own. Its first rows may come after a later one.
func TestRestoredGatewayForgetsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		b, g := s.backend(), s.gateway()
		var h heard
		s.start(func(ctx context.Context) error { return b.Consume(ctx, NewMemory(), h.take) })
		time.Sleep(3 * time.Second)
		g.tell(t, "a", 1, 2, 3, 4, 5, 6)
		data, _ := cloud.Envelope{ID: "p", Source: "roomgate/g", Type: cloud.TypeOf(cloud.LevelPresence), Data: []byte(`{"state":"online"}`)}.Encode()
		if err := g.link.Publish(t.Context(), cloud.Message{Topic: cloud.Topics{Gateway: "g"}.Up(cloud.LevelPresence), Payload: data, QoS: 1}); err != nil {
			t.Fatal(err)
		}
		g.tell(t, "a", 1, 2, 3)
		if got := g.lastAck(); got != `{"sequence":3}` {
			t.Errorf("with three rows sent, acknowledged is %s", got)
		}
		g.boot = "c"
		if err := g.link.Publish(t.Context(), g.event(7)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(settleTime / 2)
		if got := g.lastAck(); got != `{"sequence":3}` {
			t.Errorf("half a second after the first row of a start, acknowledged is %s", got)
		}
		g.tell(t, "c", 4, 5, 6)
		if got := g.lastAck(); got != `{"sequence":3}` {
			t.Errorf("while rows of another life are missing, acknowledged is %s", got)
		}
		g.tell(t, "a", 1, 2, 3)
		if got := g.lastAck(); got != `{"sequence":7}` {
			t.Errorf("acknowledged is %s", got)
		}
		h.want(t, []string{"a-1", "a-2", "a-3", "a-4", "a-5", "a-6", "p", "c-7", "c-4", "c-5", "c-6"}, nil)
	})
}
