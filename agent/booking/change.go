package booking

import (
	"time"

	"roomgate/agent/patch"
	"roomgate/agent/problem"
)

// New makes a booking of what was asked for: of its id, space, texts, times and source. The rest is its life. A
// walk-up is in the room already.
func New(asked Booking, r Rules, now time.Time) (Booking, error) {
	b := Booking{ID: asked.ID, SpaceID: asked.SpaceID, OrganizationID: asked.OrganizationID, Title: asked.Title, Private: asked.Private,
		Organizer: asked.Organizer, Start: stampOf(asked.Start), End: stampOf(asked.End), State: Booked, Revision: 1, Source: asked.Source,
		ExternalID: asked.ExternalID, CreatedAt: stampOf(now), UpdatedAt: stampOf(now)}
	fill(&b.Source, Local)
	if b.Source != Local && b.Source != WalkUp {
		return Booking{}, invalid("source", "is %q: want local or walk_up", b.Source)
	}
	if b.Source == WalkUp {
		b.State, b.CheckedInAt = CheckedIn, stampOf(now)
	}
	if err := b.check(); err != nil {
		return Booking{}, err
	}
	return b, r.times(b, now)
}

// stampOf is a time as it is stored: UTC, to the millisecond.
func stampOf(now time.Time) time.Time { return now.UTC().Truncate(time.Millisecond) }

// touched is b after one more change.
func (b Booking) touched(now time.Time) Booking {
	b.Revision++
	b.UpdatedAt = stampOf(now)
	return b
}

// Edit is what may be changed of a booking; nil leaves it as it is.
type Edit struct {
	Title          *string
	Private        *bool
	Organizer      *Person
	Start, End     *time.Time
	ExternalID     *string
	OrganizationID *string
}

// Change applies an edit. A booking that has begun keeps its start, and one that is over keeps
// everything.
func (b Booking) Change(e Edit, r Rules, now time.Time) (Booking, error) {
	if !b.Live() {
		return b, notNow("the booking is %s and cannot be changed", b.State)
	}
	c := b
	patch.Set(&c.Title, e.Title)
	patch.Set(&c.Private, e.Private)
	patch.Set(&c.Organizer, e.Organizer)
	patch.Set(&c.ExternalID, e.ExternalID)
	patch.Set(&c.OrganizationID, e.OrganizationID)
	patch.Set(&c.Start, e.Start)
	patch.Set(&c.End, e.End)
	c.Start, c.End = stampOf(c.Start), stampOf(c.End)
	if Same(c, b) {
		return b, nil
	}
	if err := c.check(); err != nil {
		return b, err
	}
	if err := c.moved(b, r, now); err != nil {
		return b, err
	}
	return c.touched(now), nil
}

// moved judges the new times of a booking that had others. A meeting that is
// checked in becomes longer or ends: so nobody's message can shorten it while
// people sit there.
func (b Booking) moved(was Booking, r Rules, now time.Time) error {
	if b.Start.Equal(was.Start) && b.End.Equal(was.End) {
		return nil
	}
	begun := was.State == CheckedIn || !now.Before(was.Start)
	if begun && !b.Start.Equal(was.Start) {
		return problem.New(problem.NotNow, "start_time", "cannot be moved: the meeting has begun")
	}
	if !begun {
		return r.times(b, now)
	}
	switch {
	case was.State == CheckedIn && b.End.Before(was.End):
		return problem.New(problem.NotNow, "end_time", "cannot be made earlier while the meeting runs: end it when it is over")
	case !b.End.After(now):
		return invalid("end_time", "is past: end the booking instead")
	}
	if err := r.lengths(b); err != nil {
		return err
	}
	return r.openUntil(was.End, b.End)
}

// Cancel takes the booking back. One that has begun is ended instead.
func (b Booking) Cancel(now time.Time) (Booking, error) {
	switch {
	case b.State == CheckedIn:
		return b.EndNow(now)
	case b.State == Cancelled:
		return b, nil
	case !b.Live():
		return b, notNow("the booking is %s and cannot be cancelled", b.State)
	}
	b.State, b.Reason = Cancelled, "" // one from before is no reason for this
	return b.touched(now), nil
}

// CheckIn says that who booked is here.
func (b Booking) CheckIn(r Rules, now time.Time) (Booking, error) {
	switch {
	case b.State == CheckedIn:
		return b, nil
	case !b.Live():
		return b, notNow("the booking is %s: book the room again", b.State)
	case now.Before(b.Start.Add(-r.Opens)):
		return b, notNow("it is too early: check-in opens at %s", r.clock(b.Start.Add(-r.Opens)))
	case !now.Before(b.End):
		return b, notNow("the meeting was over at %s: book the room again", r.clock(b.End))
	}
	b.State, b.Arrival = CheckedIn, Arrival{CheckedInAt: stampOf(now)}
	return b.touched(now), nil
}

// Extend moves the end of a meeting that is under way. Schedule.Free says
// whether the space is free then.
func (b Booking) Extend(until time.Time, r Rules, now time.Time) (Booking, error) {
	switch {
	case !b.Live():
		return b, notNow("the booking is %s and cannot be extended", b.State)
	case b.State == Booked && now.Before(b.Start):
		return b, notNow("the meeting has not begun: change the end of the booking instead")
	case !until.After(b.End):
		return b, invalid("end_time", "is not after the present end, %s", r.clock(b.End))
	case !until.After(now):
		return b, invalid("end_time", "is past: book the room again")
	}
	c := b
	c.End = stampOf(until)
	if c.PlannedEnd.IsZero() {
		c.PlannedEnd = b.End
	}
	if err := r.lengths(c); err != nil {
		return b, err
	}
	if err := r.openUntil(b.End, c.End); err != nil {
		return b, err
	}
	return c.touched(now), nil
}

// EndNow ends a meeting that has begun, and keeps the planned end for the
// record. One that is checked in ahead of its start gives all of its time back.
func (b Booking) EndNow(now time.Time) (Booking, error) {
	switch {
	case b.State == Ended:
		return b, nil
	case !b.Live():
		return b, notNow("the booking is %s and cannot be ended", b.State)
	case now.Before(b.Start) && b.State != CheckedIn:
		return b, notNow("the meeting has not begun: cancel the booking instead")
	}
	if end := stampOf(now); end.Before(b.End) && end.After(b.Start) {
		if b.PlannedEnd.IsZero() {
			b.PlannedEnd = b.End
		}
		b.End = end
	}
	b.State, b.EndedAt = Ended, stampOf(now)
	return b.touched(now), nil
}

// ReleaseNow gives the time of a booking back because nobody came.
func (b Booking) ReleaseNow(reason string, now time.Time) Booking {
	b.State, b.ReleasedAt, b.Reason = Released, stampOf(now), reason
	return b.touched(now)
}

// EndEmpty ends a meeting because the room is empty.
func (b Booking) EndEmpty(reason string, now time.Time) Booking {
	b, _ = b.EndNow(now) // it is checked in, so it can be
	b.Reason = reason
	return b
}
