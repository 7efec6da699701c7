package webhook

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"roomgate/agent/webhook/webhooktest"
	"roomgate/store"
)

// A delivery that cannot be read at the moment waits; one that is not there any
// more is dropped, and counted once.
func TestUnreadDelivery(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		defer r.stop()
		h := r.hook("a", owner, BookingCreated)
		r.out.Always(http.StatusInternalServerError, "")
		r.book("b1", 10)
		r.book("b2", 11)
		r.wait(10 * time.Second)
		waiting := r.deliveries(h.ID)
		if len(waiting) != 2 {
			t.Fatalf("%+v", waiting)
		}
		first := waiting[1]
		spoilt := store.NewTable[string]("deliveries")
		spoil := func(write func(*store.Tx) error) {
			r.must(r.db.Update(context.Background(), write))
			r.mu.Lock()
			clear(r.unsaved)
			r.mu.Unlock()
		}
		spoil(func(tx *store.Tx) error { return spoilt.Put(tx, deliveryKey(h.ID, first.ID), "not a delivery") })
		r.out.Always(http.StatusOK, "")
		r.out.Take()
		r.wait(10 * time.Minute)
		if now := r.state(h.ID); now.Dropped != 0 || now.Pending != 1 {
			t.Errorf("unreadable: %d dropped, %d wait", now.Dropped, now.Pending)
		}
		spoil(func(tx *store.Tx) error { return deliveries.Put(tx, deliveryKey(h.ID, first.ID), first) })
		r.wait(10 * time.Minute)
		if now := r.state(h.ID); now.Dropped != 0 || now.Pending != 0 {
			t.Errorf("readable again: %d dropped, %d wait", now.Dropped, now.Pending)
		}
		r.wantLines("both", "a booking.created b1", "a booking.created b2")
		r.out.Always(http.StatusInternalServerError, "")
		r.book("b3", 12)
		r.wait(10 * time.Second)
		lost := r.deliveries(h.ID)[0]
		spoil(func(tx *store.Tx) error { return deliveries.Delete(tx, deliveryKey(h.ID, lost.ID)) })
		r.wait(10 * time.Minute)
		if now := r.state(h.ID); now.Dropped != 1 || now.Pending != 0 {
			t.Errorf("not there any more: %d dropped, %d wait", now.Dropped, now.Pending)
		}
	})
}

// What is under way when too many wait may arrive yet: it is not dropped, and each of
// the others is counted once.
func TestUnderWayIsNotDropped(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		defer r.stop()
		h := r.hook("a", owner, BookingCreated)
		arrived := 0
		r.out.Say(func(string, *http.Request) (*http.Response, error) {
			time.Sleep(5 * time.Second) // on its way, while the flood comes
			arrived++
			return webhooktest.Reply(http.StatusOK, ""), nil
		})
		r.book("b1", 10)
		r.wait(time.Second)
		const all = maxWaiting + 300
		r.flood(all)
		r.wait(time.Second)
		if now := r.state(h.ID); now.Dropped != all+1-maxWaiting || now.Pending != maxWaiting {
			t.Errorf("%d dropped, %d wait", now.Dropped, now.Pending)
		}
		r.wait(5 * maxWaiting * time.Second)
		if now := r.state(h.ID); now.Dropped+arrived != all+1 || now.Pending != 0 {
			t.Errorf("%d dropped and %d arrived of %d, %d wait", now.Dropped, arrived, all+1, now.Pending)
		}
		if first := r.out.Take()[0].Data["booking_id"]; fmt.Sprint(first) != "b1" {
			t.Errorf("the first is %v", first)
		}
	})
}
