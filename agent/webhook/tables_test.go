package webhook

import (
	"slices"
	"testing"
	"time"

	"roomgate/agent/eventlog"
	"roomgate/store"
)

// TestAnotherGatewaySendsNothingOld: what waits and what is in the log is the old
// one's to send.
func TestAnotherGatewaySendsNothingOld(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := openRig(t, rigOptions{dir: dir})
		w := r.hook("a", owner, BookingCreated)
		r.book("waits", 40)
		r.must(r.turn.Lock(t.Context()))
		err := r.fanOutAll(t.Context())
		r.turn.Unlock()
		r.must(err)
		_, err = r.Test(t.Context(), w.ID)
		r.must(err)
		r.book("logged", 41)
		r.must(r.db.Update(t.Context(), Forget))
		r.must(r.db.View(func(tx *store.Tx) error {
			if at, _, err := logCursor.Get(tx); err != nil || at != eventlog.End(tx) {
				t.Errorf("the log is read from %d of %d, %v", at, eventlog.End(tx), err)
			}
			return nil
		}))
		r.must(r.close())
		r = startRig(t, rigOptions{dir: dir})
		defer r.stop()
		r.wait(time.Hour)
		r.wantLines("what was before")
		if log := r.deliveries(w.ID); len(log) != 1 || log[0].Event != EventTest {
			t.Errorf("the log of deliveries: %+v", log)
		}
		r.book("new", 42)
		r.wait(time.Second)
		r.wantLines("what is new", "a booking.created new")
	})
}

// TestWordsOfTheBundle are all that is private, also of a webhook as an earlier
// version has stored it.
func TestWordsOfTheBundle(t *testing.T) {
	r := openRig(t, rigOptions{})
	defer func() { r.must(r.close()) }()
	w := r.hook("a", owner, BookingCreated)
	_, _, err := r.Rotate(t.Context(), w.ID, "another secret of a", Overlap)
	r.must(err)
	r.must(r.db.Update(t.Context(), func(tx *store.Tx) error {
		return webhooks.Put(tx, "old", storedWebhook{Webhook: Webhook{ID: "old"}, Plain: &Secrets{Current: "an old secret"}})
	}))
	r.must(r.db.View(func(tx *store.Tx) error {
		words := Words(tx, r.keys)
		for _, want := range []string{w.URL, "a.example.com", "the secret of a", "another secret of a", "an old secret"} {
			if !slices.Contains(words, want) {
				t.Errorf("%q is not among %q", want, words)
			}
		}
		return nil
	}))
}

func TestBudget(t *testing.T) {
	for size, want := range map[int64]int{0: 0, 4 << 20: 403, store.DefaultMaxSize: maxDeliveries, 1 << 40: maxDeliveries} {
		if got := Budget(size); got != want {
			t.Errorf("%d bytes: %d deliveries, want %d", size, got, want)
		}
	}
}
