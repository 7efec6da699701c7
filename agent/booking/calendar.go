package booking

import (
	"time"

	"roomgate/agent/problem"
)

// Why a booking of an external calendar was cancelled although nobody decided
// on the meeting. The texts are stored and sent, and Left compares them: they
// stay as they are.
const (
	LeftCalendar = "removed from the calendar"
	LostSpace    = "the meeting space was removed from the building"
)

// Leave cancels a booking that its calendar does not name any more.
func (b Booking) Leave(now time.Time) Booking {
	b.State, b.Reason = Cancelled, LeftCalendar
	return b.touched(now)
}

// Left says whether a booking was cancelled only because its calendar, or its
// space, was missing. It comes back with them. All else that is over was
// settled by people, by the cloud or by the rules of the space, and stays.
func (b Booking) Left() bool {
	return b.Source == Calendar && b.State == Cancelled && (b.Reason == LeftCalendar || b.Reason == LostSpace)
}

// Return books a meeting again that had left its calendar or was displaced. It
// is like one that is made now: nobody has checked in to it, and who booked has
// as long to come as others. Where the room is not free any more it is
// displaced; the schedule is that of its space.
func (b Booking) Return(s *Schedule, now time.Time) Booking {
	b.State, b.Reason, b.CreatedAt = Booked, "", stampOf(now)
	b.CheckedInAt, b.PlannedEnd = time.Time{}, time.Time{}
	b = b.touched(now)
	if taken := problem.As(s.Free(b.Start, b.End, b.ID)); taken != nil && taken.Busy != nil {
		b.yield(Interval(*taken.Busy))
	}
	return b
}
