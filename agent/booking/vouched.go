package booking

import (
	"maps"
	"slices"
)

// Doubted says whether an unsigned word made b or moved it, or checked somebody in.
func (b *Booking) Doubted() bool { return b.Unsigned || b.CheckedInBy == Cloud }

// Vouched is the schedule by the word of the building alone. It leaves out what nobody has signed: of a booking that
// was moved or taken back unsigned stays the time that it had before, unless that is somebody else's by now, and
// of one that was made unsigned nothing. A check-in by the cloud does not count.
func (s *Schedule) Vouched() *Schedule {
	s.mu.RLock()
	all := slices.Collect(maps.Values(s.byID))
	s.mu.RUnlock()
	if !slices.ContainsFunc(all, (*Booking).Doubted) {
		return s
	}
	var own, moved []Booking
	for _, b := range all {
		if b.Unsigned && b.Vouched == (Interval{}) {
			continue
		}
		one := *b
		if one.CheckedInBy == Cloud {
			one.Arrival = Arrival{}
			if one.State == CheckedIn {
				one.State = Booked
			}
		}
		if !one.Unsigned {
			own = append(own, one)
			continue
		}
		one.Start, one.End = one.Vouched.Start, one.Vouched.End
		if !one.Live() {
			one.State = Booked
		}
		moved = append(moved, one)
	}
	slices.SortFunc(moved, func(a, b Booking) int { return earlier(&a, &b) })
	vouched := NewSchedule(own)
	for _, b := range moved {
		if vouched.Free(b.Start, b.End, b.ID) == nil {
			vouched.Put(b)
		}
	}
	return vouched
}
