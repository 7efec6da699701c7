package booking

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// resolve returns those of live bookings of one space that have to yield,
// sorted by id: displaced, or, where two are checked in, cut short. Both sides
// find the same, byte for byte, whatever the order of live.
func resolve(live []*Booking) (losers []Booking) {
	sorted := slices.Clone(live)
	slices.SortFunc(sorted, earlier)
	var end time.Time // of the group so far
	for from, i := 0, 0; i <= len(sorted); i++ {
		if i == len(sorted) || !sorted[i].Start.Before(end) {
			if i-from > 1 {
				losers = append(losers, yielding(sorted[from:i])...)
			}
			from, end = i, time.Time{}
		}
		if i < len(sorted) && sorted[i].End.After(end) {
			end = sorted[i].End
		}
	}
	slices.SortFunc(losers, byID)
	return losers
}

// yielding finds who yields in a group of bookings in which each touches another.
func yielding(group []*Booking) (losers []Booking) {
	var present, ranked []Booking
	for _, b := range group {
		if b.State == CheckedIn {
			present = append(present, *b)
		} else {
			ranked = append(ranked, *b)
		}
	}
	kept, losers := settlePresent(present)
	slices.SortFunc(ranked, precedes)
	for _, b := range ranked {
		busy, overlap := kept.find(b.Start, b.End)
		if !overlap {
			kept.insert(Interval{b.Start, b.End})
			continue
		}
		b.yield(busy)
		b.Revision++ // and the time of the change stays, for it is the same on both sides
		losers = append(losers, b)
	}
	return losers
}

// yield gives way to the booking of that time.
func (b *Booking) yield(to Interval) {
	b.State, b.Reason = Displaced, "another booking has the right to the room: "+span(to.Start, to.End)
}

// settlePresent cuts meetings that are checked in where the next one begins.
// They come sorted by start.
func settlePresent(present []Booking) (kept Intervals, losers []Booking) {
	slices.SortStableFunc(present, func(a, b Booking) int {
		return cmp.Or(a.Start.Compare(b.Start), a.CheckedInAt.Compare(b.CheckedInAt))
	})
	for i, b := range present {
		if i+1 < len(present) && b.End.After(present[i+1].Start) {
			b = b.cut(present[i+1].Start)
			losers = append(losers, b)
		}
		if b.Live() {
			kept = append(kept, Interval{b.Start, b.End})
		}
	}
	return kept, losers
}

// cut ends a meeting that is checked in where another one is. It is no new
// revision: a side that knows better is right.
func (b Booking) cut(at time.Time) Booking {
	b.Reason = fmt.Sprintf("another meeting is in the room from %s on", stamp(at))
	if !at.After(b.Start) {
		b.State = Displaced
		return b
	}
	if b.PlannedEnd.IsZero() {
		b.PlannedEnd = b.End
	}
	b.End = at
	return b
}

// precedes is the right to a room where two that are booked want it: the one
// with the earlier cloud revision; else the one made earlier; else the smaller
// id.
func precedes(a, b Booking) int {
	return cmp.Or(
		cmp.Compare(a.CloudRevision-1, b.CloudRevision-1), // none wraps to the last
		a.CreatedAt.Compare(b.CreatedAt),
		cmp.Compare(a.ID, b.ID),
	)
}
