package booking

import (
	"testing"

	"pgregory.net/rapid"
)

// TestMergeConverges is the promise of the offline merge: any interleaving,
// duplication and loss of messages ends with both sides equal, no two confirmed
// bookings overlapping, nobody in a room put out, every loser told.
func TestMergeConverges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		w.live(true)
		w.quiet()
		w.equal()
		w.losersTold()
		for _, m := range w.allUp { // what comes late changes nothing
			if store, _ := w.cloud.merge(overWire(t, m)); len(store) > 0 {
				t.Fatalf("an old message changes the cloud: %s", rev(store[0]))
			}
		}
		for _, m := range w.allDown {
			if w.hearDown(m) {
				t.Fatalf("an old message of revision %d changes the building", m.revision)
			}
		}
		for _, m := range w.allDown { // not even if the building forgot its revision
			w.apply(m)
		}
		w.quiet()
		w.equal()
	})
}

// TestMergeNeedsNoResend: where messages are late but neither lost nor out of
// order, what the sides tell each other is enough.
func TestMergeNeedsNoResend(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		w.live(false)
		for n := 0; len(w.up)+len(w.down) > 0; n++ {
			if n > 1000 {
				t.Fatal("the sides never stop answering each other")
			}
			w.deliver(false)
		}
		w.equal()
		w.losersTold()
	})
}
