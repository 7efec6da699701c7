package booking

import (
	"time"

	"roomgate/agent/problem"
)

// Space is what decides whether a space can be had: its rules, what is booked in
// it, and what somebody has set over both.
type Space struct {
	Rules    Rules
	Enabled  bool // false: it is out of use
	AtDoor   bool // somebody at its door asks, whom nobody knows
	Holds    []Hold
	Bookings *Schedule
}

// Book makes a booking of what is asked for, or refuses it. It says start_time,
// end_time or the field that is wrong. A walk-up that names no end gets one.
func (s Space) Book(asked Booking, now time.Time) (Booking, error) {
	if asked.Source == WalkUp && asked.End.IsZero() {
		_, next := s.Bookings.Now(asked.Start)
		asked.End = s.Rules.walkUpEnd(asked.Start, next, s.Holds)
	}
	b, err := New(asked, s.Rules, now)
	if err == nil {
		err = s.free(b.Start, b.End, b.ID)
	}
	if err == nil && s.AtDoor {
		err = s.Rules.AtDoor(b, now, s.Bookings.around(b))
	}
	return b, err
}

// Extend moves the end of a meeting, or refuses it by end_time.
func (s Space) Extend(b Booking, until, now time.Time) (Booking, error) {
	after, err := b.Extend(until, s.Rules, now)
	if err == nil && s.AtDoor {
		err = s.Rules.ExtendAtDoor(b, after.End, s.Bookings.around(b))
	}
	if err == nil {
		err = s.FreeFor(after, b)
	}
	return after, err
}

// FreeFor refuses times that a booking did not have before, if the space cannot
// be had then.
func (s Space) FreeFor(b, was Booking) error {
	switch {
	case !b.Start.Before(was.Start) && !b.End.After(was.End):
		return nil
	case b.Start.Equal(was.Start):
		return s.free(was.End, b.End, b.ID)
	}
	return s.free(b.Start, b.End, b.ID)
}

// free refuses a time at which the space cannot be had for the booking of that
// id.
func (s Space) free(start, end time.Time, id string) error {
	if !s.Enabled {
		return problem.New(problem.Conflict, "meeting_space_id", "is out of use")
	}
	for _, h := range s.Holds {
		if h.Status != Available && h.Overlaps(start, end) {
			e := problem.New(problem.Conflict, "start_time", "is not free: the space is set to %s then", h.Status)
			e.Busy = &problem.Interval{Start: h.From, End: h.Until} // zero: it has no end
			return e
		}
	}
	return s.Bookings.Free(start, end, id)
}

// Answers says whether the booking is what was asked for, so that a repeated request
// gets it again. A walk-up that names a length and no times began when it was booked;
// a length of 0 is none.
func (b Booking) Answers(asked Booking, length time.Duration) bool {
	fill(&asked.Source, Local)
	if length != 0 {
		asked.End = b.Start.Add(length)
	}
	return asked.SpaceID == b.SpaceID && asked.Title == b.Title && asked.Organizer == b.Organizer &&
		asked.Private == b.Private && (asked.OrganizationID == "" || asked.OrganizationID == b.OrganizationID) && asked.ExternalID == b.ExternalID &&
		asked.Source == b.Source &&
		(asked.Start.IsZero() || asked.Start.Equal(b.Start)) &&
		(asked.End.IsZero() || asked.End.Equal(b.End) || asked.End.Equal(b.PlannedEnd))
}
