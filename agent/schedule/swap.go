package schedule

import (
	"context"
	"reflect"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/config"
	"roomgate/store"
)

// Swap is a change of the meeting spaces that was checked and not yet made. It
// has the turn of each room that changes: Write stores it, Show lets it take
// effect, Announce wakes those who follow the rooms, and Release must be called
// in any case.
type Swap struct {
	book    *Book
	next    *rooms
	configs map[*Room]config.Space // of the rooms that change and stay
	held    []*Room
	ended   map[*Room][]edit // what is cancelled, as its room goes
	changed []*Room          // the rooms that change or come
}

// Stage prepares that next are all meeting spaces from now on. It cancels the bookings
// of a space that goes.
func (bk *Book) Stage(ctx context.Context, next []config.Space) (*Swap, error) {
	w := &Swap{book: bk, configs: map[*Room]config.Space{}, ended: map[*Room][]edit{}}
	if err := bk.o.DB.View(func(tx *store.Tx) error { return w.build(tx, next) }); err != nil {
		return nil, err
	}
	if err := w.hold(ctx); err != nil {
		w.Release()
		return nil, err
	}
	w.end(bk.o.Clock.Now())
	return w, nil
}

// build finds the rooms that stay, and makes those that come.
func (w *Swap) build(tx *store.Tx, next []config.Space) error {
	var stored map[string][]storedBooking
	order := make([]*Room, len(next))
	for i, c := range next {
		r := w.book.Room(c.ID)
		switch {
		case r == nil:
			if stored == nil {
				stored = w.book.readBookings(tx)
			}
			var err error
			if r, err = w.book.readRoom(tx, c, stored); err != nil {
				return err
			}
			w.changed = append(w.changed, r)
		case !reflect.DeepEqual(*r.config.Load(), c):
			w.configs[r] = c
			w.changed = append(w.changed, r)
		}
		order[i] = r
	}
	w.next = newRooms(order)
	return nil
}

// hold takes the turns of the rooms that change or go.
func (w *Swap) hold(ctx context.Context) error {
	for _, r := range w.book.rooms.Load().order {
		if _, changes := w.configs[r]; w.next.byID[r.ID] != nil && !changes {
			continue
		}
		if err := r.turn.Lock(ctx); err != nil {
			return err
		}
		w.held = append(w.held, r)
	}
	return nil
}

// end cancels what is booked in the rooms that go.
func (w *Swap) end(now time.Time) {
	for _, r := range w.held {
		if w.next.byID[r.ID] != nil {
			continue
		}
		r.bookings.Walk(func(b *booking.Booking) bool {
			if b.Live() && b.End.After(now) {
				over := *b
				over.State, over.Reason, over.UpdatedAt = booking.Cancelled, booking.LostSpace, now.UTC().Truncate(time.Millisecond)
				over.Revision++
				w.ended[r] = append(w.ended[r], edit{Booking: over, marks: r.marks[b.ID], event: Cancelled})
			}
			return true
		})
	}
}

// Room returns the room that a meeting space will have.
func (w *Swap) Room(spaceID string) *Room { return w.next.byID[spaceID] }

// Write stores what is cancelled.
func (w *Swap) Write(tx *store.Tx) error {
	now := w.book.o.Clock.Now()
	for r, edits := range w.ended {
		for _, e := range edits {
			if err := r.storeEdit(tx, e, now); err != nil {
				return err
			}
		}
	}
	return nil
}

// Show lets the next rooms take effect.
func (w *Swap) Show() {
	for r, edits := range w.ended {
		r.show(edits)
	}
	for r, c := range w.configs {
		r.configure(c, r.terms.Load().storedPlan)
	}
	w.book.rooms.Store(w.next)
}

// Announce wakes those who follow the rooms, once all else shows the change.
func (w *Swap) Announce() {
	w.book.swapped.Wake()
	for _, r := range w.changed {
		r.changed()
	}
}

// Release lets others change the rooms again.
func (w *Swap) Release() {
	for _, r := range w.held {
		r.turn.Unlock()
	}
	w.held = nil
}
