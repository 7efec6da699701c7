package schedule

import (
	"slices"
	"time"

	"roomgate/agent/booking"
)

// request is what the cloud says of a booking and does not decide.
type request struct {
	revision uint64
	checkIn  bool // else it moves people who are present
}

// heard is what the cloud says, as the building takes it, and what of it is a
// request, by booking. Nobody who is present has to yield. The caller has the turn.
func (r *Room) heard(said []booking.Booking) (taken []booking.Booking, asked map[string]request) {
	taken, asked = make([]booking.Booking, len(said)), map[string]request{}
	for i, b := range said {
		mine, known := r.bookings.Get(b.ID)
		var asks bool
		if taken[i], asks = booking.Heard(mine, known, b); asks {
			asked[b.ID] = request{b.Revision, true}
		}
	}
	taken = booking.KeepPresent(r.bookings.Walk, taken)
	for i, b := range said {
		if t := taken[i]; !t.Start.Equal(b.Start) || !t.End.Equal(b.End) {
			asked[b.ID] = request{b.Revision, asked[b.ID].checkIn}
		}
	}
	return taken, asked
}

// decided answers what the cloud asks for: anybody who keeps his room by what a merge
// changes is checked in, if it is time. The cloud is told in any case, with a later
// revision. The caller has the turn.
func (r *Room) decided(asked map[string]request, changed, tell []booking.Booking, now time.Time) (store, told []booking.Booking) {
	rules := r.terms.Load().rules
	for id, q := range asked {
		after, known := r.bookings.Get(id)
		at := slices.IndexFunc(changed, func(b booking.Booking) bool { return b.ID == id })
		if at >= 0 {
			after, known = changed[at], true
		}
		if !known {
			continue
		}
		before := after
		var refused error
		if q.checkIn && after.State != booking.CheckedIn {
			after, refused = after.Grant(q.revision, rules, now)
		}
		if refused != nil {
			r.book.o.Log.Warn("a check-in by the cloud is refused", "meeting_space", r.Name(), "booking", id, "reason", refused)
		}
		if after.Revision <= q.revision {
			after.Revision = q.revision + 1
		}
		switch {
		case at >= 0:
			changed[at] = after
		case !booking.Same(before, after):
			changed = append(changed, after)
		}
		tell = append(slices.DeleteFunc(tell, func(b booking.Booking) bool { return b.ID == id }), after)
	}
	return changed, tell
}

// onward gives bookings that come from another room a later revision than they had
// there, as a revision never goes back, and adds them to what the cloud is told.
func (bk *Book) onward(r *Room, changed, tell []booking.Booking) (store, told []booking.Booking) {
	for i, b := range changed {
		old, from := bk.elsewhere(r, b.ID)
		if from == nil || b.Revision > old.Revision {
			continue
		}
		changed[i].Revision = old.Revision + 1
		tell = append(slices.DeleteFunc(tell, func(t booking.Booking) bool { return t.ID == b.ID }), changed[i])
	}
	return changed, tell
}
