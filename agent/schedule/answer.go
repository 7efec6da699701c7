package schedule

import "roomgate/agent/booking"

// answer is what the cloud said of a booking, and what it was told instead.
type answer struct{ said, told booking.Booking }

// untold leaves out of tell the bookings with which the cloud was already answered
// when it said the same. Else a cloud that merges by rules of its own, or of an
// earlier version, would be answered for ever. A snapshot is answered in any case.
// The caller has the turn.
func (r *Room) untold(kind string, said, tell []booking.Booking) (news []booking.Booking) {
	if kind == kindSnapshot || r.answers == nil {
		r.answers = map[string]answer{}
	}
	heard := map[string]booking.Booking{}
	for _, b := range said {
		b.CloudRevision = 0 // that of the message, if the cloud does not say it
		heard[b.ID] = b
	}
	for _, b := range tell {
		mine, known := r.bookings.Get(b.ID)
		a := answer{heard[b.ID], b}
		if known && booking.Same(mine, b) && r.answers[b.ID] == a {
			continue
		}
		r.answers[b.ID] = a
		news = append(news, b)
	}
	return news
}
