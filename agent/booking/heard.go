package booking

import (
	"iter"
	"time"
)

// # Check-ins from elsewhere
//
// Only the building sees who is in the room. A check-in that the cloud says counts
// if it is the building's own, which came back. Any other is a request: the booking
// is taken as booked, and the building checks it in by its own rules, or does not.

// Heard makes of a booking that the cloud says what the building takes it for. mine
// is its own record, if there is one. asks says that the check-in in it is a
// request: the booking is taken as booked.
func Heard(mine Booking, known bool, said Booking) (taken Booking, asks bool) {
	own := known && mine.stage() >= stagePresent
	switch {
	case own && said.stage() >= stagePresent:
		said.Arrival = mine.Arrival
		if said.State == CheckedIn && mine.State == CheckedIn {
			said.Start = mine.Start // it has begun
		}
	case said.State == CheckedIn:
		said.State, asks = Booked, true
		said.Arrival = mine.Arrival // of before it was given up, if at all
	case known && !own && said.State == Ended:
		said.Arrival = mine.Arrival // nobody was there, so it is no more than over
	}
	return said, asks
}

// KeepPresent gives meetings that are checked in back their time where the cloud
// moves one into another, so that nobody who is present has to yield. live walks
// the live bookings of the space, said is what Heard makes of a message.
func KeepPresent(live iter.Seq[*Booking], said []Booking) []Booking {
	mine, heard := map[string]Booking{}, map[string]Booking{}
	for b := range live {
		if b.State == CheckedIn {
			mine[b.ID] = *b
		}
	}
	for _, b := range said {
		if _, present := mine[b.ID]; present && b.State == CheckedIn {
			heard[b.ID] = b
		}
	}
	into := func(b Booking) bool {
		for id, other := range mine {
			moved, ok := heard[id]
			if id != b.ID && (b.Overlaps(other.Start, other.End) || ok && b.Overlaps(moved.Start, moved.End)) {
				return true
			}
		}
		return false
	}
	out := make([]Booking, len(said))
	for i, b := range said {
		out[i] = b
		if _, moves := heard[b.ID]; moves && into(b) {
			out[i].Start, out[i].End, out[i].PlannedEnd = mine[b.ID].Start, mine[b.ID].End, mine[b.ID].PlannedEnd
		}
	}
	return out
}

// Grant checks a booking in as the cloud asks, in its time; else it stays as it is.
// A request is of one revision, said: who repeats it after a later one asks for
// nothing.
func (b Booking) Grant(said uint64, r Rules, now time.Time) (after Booking, refused error) {
	if said < b.Revision {
		return b, notNow("the booking has revision %d by now", b.Revision)
	}
	if after, refused = b.CheckIn(r, now); refused != nil {
		after = b
	} else {
		after.CheckedInBy = Cloud
	}
	return after, refused
}
