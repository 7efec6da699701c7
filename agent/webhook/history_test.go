package webhook

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"roomgate/agent/problem"
	"roomgate/agent/webhook/webhooktest"
)

func TestDeliveriesAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := startRig(t, rigOptions{dir: dir})
		a, b := r.hook("a", owner, BookingCreated), r.hook("b", owner, BookingCreated)
		r.out.Say(func(host string, _ *http.Request) (*http.Response, error) {
			return webhooktest.Reply(map[string]int{"a.example.com": 500, "b.example.com": 200}[host], ""), nil
		})
		for range 3 { // all at once, and what b loses before it has its turn depends on the machine
			r.flood((maxWaiting + 298) / 3)
			r.wait(time.Second)
		}
		r.wait(time.Hour)
		if now := r.state(a.ID); now.Pending != maxWaiting || now.Dropped != 298 {
			t.Errorf("%d wait and %d were dropped", now.Pending, now.Dropped)
		}
		if now := r.state(b.ID); now.Pending != 0 || now.Dropped != 0 || len(r.deliveries(b.ID)) != keepDelivered {
			t.Errorf("%+v with a log of %d", now, len(r.deliveries(b.ID)))
		}
		var seen []string
		for cursor := ""; ; {
			page, next, err := r.Deliveries(a.ID, 150, cursor)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range page {
				seen = append(seen, d.ID)
			}
			if cursor = next; next == "" {
				break
			}
		}
		slices.Reverse(seen)
		if len(seen) != maxWaiting || !slices.IsSorted(seen) || len(slices.Compact(slices.Clone(seen))) != len(seen) {
			t.Errorf("the pages have %d deliveries, want %d in order", len(seen), maxWaiting)
		}
		gone, err := r.delivery(a.ID, seen[0])
		if err != nil {
			t.Fatal(err)
		}
		r.mu.Lock()
		r.limit = 500
		r.boundDeliveries()
		r.mu.Unlock()
		if err := r.requeue(gone); problem.As(err) == nil || problem.As(err).Code != problem.NotFound {
			t.Errorf("redelivery of what was forgotten meanwhile: %v", err)
		}
		r.stop()
		kept := r.kept()
		if len(kept) != 500 {
			t.Errorf("%d are left of a budget of 500", len(kept))
		}
		r = openRig(t, rigOptions{dir: dir}) // and does not run, or it would send
		defer func() { _ = r.close() }()
		now := r.kept()
		if len(now) != 500 || !maps.Equal(now, kept) {
			maps.DeleteFunc(kept, func(key string, state DeliveryState) bool { return now[key] == state })
			t.Errorf("%d after a restart, want what was left; these differ: %v", len(now), kept)
		}
	})
}

func TestTestDelivery(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		defer r.stop()
		w := r.hook("a", owner, BookingCreated)
		r.out.Always(500, "")
		d, err := r.Test(t.Context(), w.ID)
		if err != nil || d.State != Failed || d.Attempts[0].Status != 500 || !d.NextAt.IsZero() {
			t.Errorf("a failed test: %+v, %v", d, err)
		}
		if now := r.state(w.ID); now.State != Active || now.LastError == "" {
			t.Errorf("after it: %+v", now)
		}
		if _, err := r.Redeliver(t.Context(), w.ID, d.ID); problem.As(err).Code != problem.NotNow {
			t.Errorf("redelivery of a test: %v", err)
		}
		r.out.Say(nil)
		d, err = r.Test(t.Context(), w.ID)
		if err != nil || d.State != Delivered || d.Event != EventTest {
			t.Errorf("a good test: %+v, %v", d, err)
		}
		r.wait(time.Hour)
		if got, log := r.out.Take(), r.deliveries(w.ID); len(got) != 2 || len(log) != 2 || log[0].ID != d.ID || got[1].Data["organization_id"] != owner {
			t.Errorf("%d came, the log has %d", len(got), len(log))
		}
		ctx, cancel := context.WithCancel(t.Context())
		r.out.Say(func(_ string, req *http.Request) (*http.Response, error) {
			cancel()
			<-req.Context().Done()
			return nil, req.Context().Err()
		})
		if _, err := r.Test(ctx, w.ID); problem.As(err).Code != problem.Unavailable || len(r.deliveries(w.ID)) != 2 {
			t.Errorf("a test that nobody waits for: %v", err)
		}
	})
}

// kept are the states of all deliveries by key, as the dispatcher lists them.
func (r *rig) kept() map[string]DeliveryState {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := map[string]DeliveryState{}
	for id, w := range r.byID {
		for _, d := range w.waiting {
			all[deliveryKey(id, d.id)] = Pending
		}
		for _, d := range w.done {
			all[deliveryKey(id, d)] = "done"
		}
	}
	return all
}
