package booking

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// stage is how far a booking has come; a later stage is never taken back by a
// message of an earlier one. People who are in the room are further than
// somebody who cancels elsewhere.
func (s State) stage() int {
	switch s {
	case Cancelled:
		return 1
	case Released:
		return 2
	case CheckedIn:
		return 3
	case Ended:
		return 4
	}
	return 0 // booked and displaced: the later revision says which
}

// Join returns what both sides keep of two versions of one booking. It is
// commutative, associative and idempotent, so that the order and the number of
// messages make no difference.
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
	if c := cmp.Or(
		cmp.Compare(a.State.stage(), b.State.stage()),
		cmp.Compare(a.Revision, b.Revision),
		cmp.Compare(outcast(a), outcast(b)),
		a.UpdatedAt.Compare(b.UpdatedAt),
	); c != 0 {
		return c
	}
	a.CloudRevision, b.CloudRevision = 0, 0
	return slices.Compare(encode(a), encode(b)) // equal, or two edits of one instant
}

func outcast(b Booking) int {
	if b.State == Displaced {
		return 1
	}
	return 0
}

func encode(b Booking) []byte {
	data, _ := json.Marshal(b) // texts, numbers and times only
	return data
}

// precedes is the right to a room where two bookings want it: who is checked in
// keeps it, of two the one who came first; else the booking with the earlier
// cloud revision; else the one made earlier; else the smaller id.
func precedes(a, b Booking) int {
	if c := cmp.Compare(b.State.stage(), a.State.stage()); c != 0 {
		return c
	}
	if a.State == CheckedIn {
		if c := a.CheckedInAt.Compare(b.CheckedInAt); c != 0 {
			return c
		}
	}
	return cmp.Or(
		cmp.Compare(a.CloudRevision-1, b.CloudRevision-1), // none wraps to the last
		a.CreatedAt.Compare(b.CreatedAt),
		cmp.Compare(a.ID, b.ID),
	)
}

// Resolve returns those of live bookings of one space that have to yield, as
// displaced. Both sides find the same, byte for byte.
func Resolve(live []Booking) (losers []Booking) {
	ranked := slices.Clone(live)
	slices.SortFunc(ranked, precedes)
	var kept Intervals
	for _, b := range ranked {
		busy, overlap := kept.find(b.Start, b.End)
		if !overlap {
			kept.insert(Interval{b.Start, b.End})
			continue
		}
		b.State = Displaced
		b.Reason = fmt.Sprintf("another booking has the right to the room from %s to %s", stamp(busy.Start), stamp(busy.End))
		b.Revision++ // the time of the change is the same on both sides: that of the last one
		losers = append(losers, b)
	}
	return losers
}

// Merge takes what the other side says into what this side has of one space.
// store are the bookings that are new or other than this side had them; tell
// are those that the other side does not have like that.
func Merge(have func(id string) (Booking, bool), live []Booking, said []Booking) (store, tell []Booking) {
	changed := map[string]Booking{}
	heard := map[string]Booking{}
	for _, s := range said {
		if before, twice := heard[s.ID]; twice {
			s = Join(before, s)
		}
		heard[s.ID] = s
		joined := s
		if mine, ok := have(s.ID); ok {
			joined = Join(mine, s)
		}
		changed[s.ID] = joined
	}
	for _, loser := range Resolve(overlay(live, changed)) {
		changed[loser.ID] = loser
	}
	for id, b := range changed {
		if mine, ok := have(id); !ok || !Same(mine, b) {
			store = append(store, b)
		}
		if theirs, ok := heard[id]; !ok || !Same(theirs, b) {
			tell = append(tell, b)
		}
	}
	byID := func(a, b Booking) int { return cmp.Compare(a.ID, b.ID) }
	slices.SortFunc(store, byID)
	slices.SortFunc(tell, byID)
	return store, tell
}

// overlay is what is live once the changes are made.
func overlay(live []Booking, changed map[string]Booking) []Booking {
	out := make([]Booking, 0, len(live)+len(changed))
	for _, b := range live {
		if _, ok := changed[b.ID]; !ok {
			out = append(out, b)
		}
	}
	for _, b := range changed {
		if b.Live() {
			out = append(out, b)
		}
	}
	return out
}

// Same says whether two records of a booking say the same.
func Same(a, b Booking) bool { return slices.Equal(encode(a), encode(b)) }
