package booking

import (
	"cmp"
	"encoding/json"
	"iter"
	"slices"
	"time"
)

// # The merge
//
// Both sides keep records of the same bookings and send each other those that
// are new or changed. Three rules bring them to the same end, whatever the
// order, number and loss of messages, once each has heard the other's records.
//
// Join settles two versions of one booking. The first of these that differ
// decides:
//
//  1. how far it has come: a meeting that took place and ended, then one that
//     is checked in, then one that was cancelled, then all others. What happened
//     in the room is never taken back by a message from elsewhere. Cancelled is
//     final if somebody decided it, not if a calendar was without it (Left);
//  2. of two that are checked in, the later end: an extension stands against an
//     edit that did not know of it;
//  3. the later revision;
//  4. an edit against having been displaced: if it is still in the way it is
//     displaced again, and if it was moved out of the way it stays;
//  5. the later start: a meeting that was moved to later stands against its
//     release at the time at which nobody came;
//  6. being over against being booked;
//  7. the later change, then the bytes of the record.
//
// A release and the end of a meeting to which nobody checked in are not final
// like the end of one that took place: while the link was down the building
// could not know that the meeting had been moved.
//
// resolve settles overlaps: who is checked in keeps the room. Of the others the
// one with the earlier cloud revision, the earlier creation, the smaller id
// keeps it, and the loser becomes displaced with one more revision, so that the
// decision reaches the other side and stands there.
//
// Only the building checks in (see Heard), and only into a room that is free, so two
// overlapping meetings that are checked in mean that one side has not heard all,
// or that the cloud has prolonged one over the other. The one that began earlier
// gives way to the one that began later, on paper and without a new revision:
// once the building's word is there, that outranks it.
//
// A revision never goes back: what outranks a version with a later revision becomes
// the revision after that.
//
// Merge applies all of this to what was heard. It tells the other side what outranks
// what was said, and who has to yield when that is news here. So the answers
// come to an end.
//
// Equal sides need no order of messages. A fair outcome does: the cloud's
// messages are applied in the order of their schedule revision (a gap asks for a
// snapshot), so that who knows a booking's cloud revision knows all earlier
// ones. Out of order, two sides could displace both of two bookings.

// The stages of a booking; see rule 1 of Join.
const (
	stagePlan = iota
	stageCancelled
	stagePresent
	stageTookPlace
)

func (b Booking) stage() int {
	switch {
	case b.State == Ended && !b.CheckedInAt.IsZero():
		return stageTookPlace
	case b.State == CheckedIn:
		return stagePresent
	case b.State == Cancelled && !b.Left():
		return stageCancelled
	}
	return stagePlan
}

// Join returns what both sides keep of two versions of one booking. It is
// commutative, associative and idempotent, so that the order and the number of
// messages make no difference. Of the cloud revision the earliest known one
// stays.
func Join(a, b Booking) Booking {
	known := earlierRevision(a.CloudRevision, b.CloudRevision)
	if compareVersions(a, b) < 0 {
		a = b
	}
	a.CloudRevision = known
	return a
}

// earlierRevision is the smaller one of those that are known.
func earlierRevision(a, b uint64) uint64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// compareVersions is a total order of the versions of one booking.
func compareVersions(a, b Booking) int {
	a.CloudRevision, b.CloudRevision = 0, 0
	if a == b {
		return 0
	}
	if c := cmp.Compare(a.stage(), b.stage()); c != 0 {
		return c
	}
	if a.stage() == stagePresent {
		if c := a.End.Compare(b.End); c != 0 {
			return c
		}
	}
	if c := cmp.Or(
		cmp.Compare(a.Revision, b.Revision),
		cmp.Compare(is(b, Displaced), is(a, Displaced)),
		a.Start.Compare(b.Start),
		cmp.Compare(is(b, Booked), is(a, Booked)),
		a.UpdatedAt.Compare(b.UpdatedAt),
	); c != 0 {
		return c
	}
	return slices.Compare(encode(a), encode(b))
}

func is(b Booking, s State) int {
	if b.State == s {
		return 1
	}
	return 0
}

func encode(b Booking) []byte {
	data, _ := json.Marshal(b) // texts, numbers and times only
	return data
}

// Same says whether two records of a booking say the same.
func Same(a, b Booking) bool { return a == b || inUTC(a) == inUTC(b) }

// inUTC is b with times that compare by ==.
func inUTC(b Booking) Booking {
	b.Unsigned, b.Vouched = false, Interval{} // of this side only
	for _, t := range [...]*time.Time{&b.Start, &b.End, &b.CheckedInAt, &b.ReleasedAt, &b.EndedAt, &b.PlannedEnd, &b.CreatedAt, &b.UpdatedAt} {
		*t = t.UTC()
	}
	return b
}

// Merge takes what the other side says into what this side has of one space.
// store are the bookings that are new or other than this side had them; tell
// are those of which the other side is to hear: they outrank what it said, or
// now have to yield. live walks all live bookings of the space; no two of them
// overlap, nor will they once store is stored.
func Merge(have func(id string) (Booking, bool), live iter.Seq[*Booking], said []Booking) (store, tell []Booking) {
	changed := make(map[string]Booking, len(said))
	heard := make(map[string]Booking, len(said))
	for _, s := range said {
		if before, twice := heard[s.ID]; twice {
			s = Join(before, s)
		}
		heard[s.ID] = s
		joined := s
		if mine, ok := have(s.ID); ok {
			joined = onward(mine, Join(mine, s))
		}
		changed[s.ID] = joined
	}
	lost := map[string]bool{}
	for _, loser := range resolve(overlay(live, changed)) {
		changed[loser.ID], lost[loser.ID] = loser, true
	}
	for id, b := range changed {
		mine, ok := have(id)
		news := !ok || !Same(mine, b)
		if news {
			store = append(store, b)
		}
		theirs, ok := heard[id]
		if !ok || !Same(theirs, Join(theirs, b)) || lost[id] && news {
			tell = append(tell, b)
		}
	}
	slices.SortFunc(store, byID)
	slices.SortFunc(tell, byID)
	return store, tell
}

func byID(a, b Booking) int { return cmp.Compare(a.ID, b.ID) }

// onward is what two versions became, as the next revision of mine: a revision never
// goes back. A booking that outranks mine with an earlier one gets a later one, which reaches
// the other side and stands there.
func onward(mine, joined Booking) Booking {
	if joined.Revision < mine.Revision {
		joined.Revision = mine.Revision + 1
	}
	return joined
}

// overlay is what is live once the changes are made.
func overlay(live iter.Seq[*Booking], changed map[string]Booking) (out []*Booking) {
	for b := range live {
		if _, ok := changed[b.ID]; !ok {
			out = append(out, b)
		}
	}
	for _, b := range changed {
		if b.Live() {
			out = append(out, &b)
		}
	}
	return out
}
