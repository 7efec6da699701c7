package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"roomgate/agent/booking"
	"roomgate/agent/problem"
)

// walkUpLength is how long a walk-up is that says nothing of its end.
const walkUpLength = 30 * time.Minute

// BookingOptions say who asks, and what he has seen.
type BookingOptions struct {
	Revision uint64 // the revision that the caller saw; 0: any
	Key      string // makes a repeated request the same one; unique per caller; empty: none
	By       string // the credential's name
}

// CreateBooking books a space. With the key of an earlier request it returns
// that one's booking, and created is false.
func (a *Agent) CreateBooking(ctx context.Context, asked booking.Booking, o BookingOptions) (b booking.Booking, created bool, err error) {
	s, err := a.space(asked.SpaceID)
	if err != nil {
		return b, false, err
	}
	if err := s.plan.turn.Lock(ctx); err != nil {
		return b, false, err
	}
	defer s.plan.turn.Unlock()
	switch {
	case asked.ID != "": // it makes the request the same one by itself
	case o.Key != "":
		asked.ID = keyedID(o.Key)
	default:
		asked.ID = ulid.Make().String()
	}
	if other, _, err := a.findBooking(asked.ID); err == nil {
		if o.Key != "" && repeats(asked, other) {
			return other, false, nil
		}
		return b, false, refuse(Conflict, "id", "was used before for another booking: choose a new one")
	}
	b, err = s.book(asked, a.Now())
	if err != nil {
		return b, false, err
	}
	if err := a.commit(ctx, s, []edit{{Booking: b, event: bookingCreated, more: by(o)}}, nil); err != nil {
		return booking.Booking{}, false, err
	}
	return b, true, nil
}

// keyedID is the id of the booking that a repeated request is about.
func keyedID(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "k" + hex.EncodeToString(sum[:12])
}

// repeats says whether what is asked for is what was booked. A walk-up that
// names no times is what it was.
func repeats(asked, b booking.Booking) bool {
	if asked.Source == "" {
		asked.Source = booking.Local
	}
	return asked.SpaceID == b.SpaceID && asked.Title == b.Title && asked.Organizer == b.Organizer &&
		asked.Private == b.Private && asked.OrganizationID == b.OrganizationID && asked.ExternalID == b.ExternalID &&
		asked.Source == b.Source &&
		(asked.Start.IsZero() || asked.Start.Equal(b.Start)) &&
		(asked.End.IsZero() || asked.End.Equal(b.End) || asked.End.Equal(b.PlannedEnd))
}

func by(o BookingOptions) map[string]any {
	if o.By == "" {
		return nil
	}
	return map[string]any{"by": o.By}
}

// book judges a new booking. The caller has the turn.
func (s *space) book(asked booking.Booking, now time.Time) (booking.Booking, error) {
	t := s.plan.terms.Load()
	switch asked.Source {
	case "":
		asked.Source = booking.Local
	case booking.WalkUp:
		s.walkUp(&asked, now)
	case booking.Local:
	default:
		return asked, refuse(Invalid, "source", "is %q: want local or walk_up", asked.Source)
	}
	b, err := booking.New(fresh(asked), t.rules, now)
	if err != nil {
		return b, err
	}
	return b, s.free(b.Start, b.End, b.ID)
}

// fresh is what of a booking may be asked for; the rest is its life, and ours.
func fresh(b booking.Booking) booking.Booking {
	return booking.Booking{ID: b.ID, SpaceID: b.SpaceID, OrganizationID: b.OrganizationID, Title: b.Title, Private: b.Private,
		Organizer: b.Organizer, Start: b.Start.UTC().Truncate(time.Millisecond), End: b.End.UTC().Truncate(time.Millisecond),
		Source: b.Source, ExternalID: b.ExternalID}
}

// walkUp fills in what somebody who stands in the room need not say. What ends
// the free time ends the walk-up, unless nothing worth while is left: then the
// refusal says what is in the way.
func (s *space) walkUp(b *booking.Booking, now time.Time) {
	if b.Start.IsZero() {
		b.Start = now.UTC().Truncate(time.Second)
	}
	if !b.End.IsZero() {
		return
	}
	rules := s.plan.terms.Load().rules
	b.End = b.Start.Add(min(walkUpLength, rules.WalkUp))
	g := s.sign(b.Start)
	ends := []time.Time{g.AvailableUntil}
	if g.Next != nil {
		ends = append(ends, g.Next.Start)
	}
	for _, at := range ends {
		if !at.Before(b.Start.Add(rules.Minimum)) && at.Before(b.End) {
			b.End = at
		}
	}
}

// free refuses a time at which the space cannot be had for the booking of that
// id.
func (s *space) free(start, end time.Time, id string) error {
	t := s.plan.terms.Load()
	if !t.enabled {
		return refuse(Conflict, "meeting_space_id", "is out of use")
	}
	for _, h := range t.Holds {
		if h.Status != booking.Available && h.Overlaps(start, end) {
			e := refuse(Conflict, "start_time", "is not free: the space is set to %s then", h.Status)
			e.Busy = &problem.Interval{Start: h.From, End: h.Until} // zero: it has no end
			return e
		}
	}
	return s.plan.bookings.Free(start, end, id)
}

// freeFor refuses times that a booking did not have before, if the space cannot
// be had then.
func (s *space) freeFor(b, was booking.Booking) error {
	switch {
	case !b.Start.Before(was.Start) && !b.End.After(was.End):
		return nil
	case b.Start.Equal(was.Start):
		return s.free(was.End, b.End, b.ID)
	}
	return s.free(b.Start, b.End, b.ID)
}

// findBooking returns a booking and the space that it is in.
func (a *Agent) findBooking(id string) (booking.Booking, *space, error) {
	for _, s := range a.spaces() {
		if b, ok := s.plan.bookings.Get(id); ok {
			return b, s, nil
		}
	}
	return booking.Booking{}, nil, refuse(NotFound, "booking_id", "is not a booking of this building")
}

// Booking returns the booking of that id.
func (a *Agent) Booking(id string) (booking.Booking, error) {
	b, _, err := a.findBooking(id)
	return b, err
}

// Bookings returns the bookings of a space, or of all if spaceID is empty,
// that share a moment with [from, to), sorted by start. A zero bound is none.
func (a *Agent) Bookings(spaceID string, from, to time.Time) ([]booking.Booking, error) {
	if spaceID != "" {
		s, err := a.space(spaceID)
		if err != nil {
			return nil, err
		}
		return s.plan.bookings.All(from, to), nil
	}
	var all []booking.Booking
	for _, s := range a.spaces() {
		all = append(all, s.plan.bookings.All(from, to)...)
	}
	slices.SortStableFunc(all, func(x, y booking.Booking) int { return x.Start.Compare(y.Start) })
	return all, nil
}

// decision makes of a booking what it shall be, and names the event.
type decision func(s *space, b booking.Booking, now time.Time) (after booking.Booking, event string, err error)

// decide changes one booking in its turn.
func (a *Agent) decide(ctx context.Context, id string, o BookingOptions, f decision) (booking.Booking, error) {
	_, s, err := a.findBooking(id)
	if err != nil {
		return booking.Booking{}, err
	}
	if err := s.plan.turn.Lock(ctx); err != nil {
		return booking.Booking{}, err
	}
	defer s.plan.turn.Unlock()
	b, ok := s.plan.bookings.Get(id)
	switch {
	case !ok:
		return b, refuse(NotFound, "booking_id", "is not a booking of this building")
	case o.Revision != 0 && o.Revision != b.Revision:
		return b, refuse(Stale, "If-Match", "is revision %d and the booking has %d: read it again", o.Revision, b.Revision)
	}
	after, event, err := f(s, b, a.Now())
	if err != nil || after == b {
		return b, err
	}
	err = a.commit(ctx, s, []edit{{Booking: after, marks: s.plan.marks[id], event: event, more: by(o)}}, nil)
	if err != nil {
		return b, err
	}
	return after, nil
}

// ChangeBooking changes what the edit names.
func (a *Agent) ChangeBooking(ctx context.Context, id string, e booking.Edit, o BookingOptions) (booking.Booking, error) {
	return a.decide(ctx, id, o, func(s *space, b booking.Booking, now time.Time) (booking.Booking, string, error) {
		after, err := b.Change(e, s.plan.terms.Load().rules, now)
		if err == nil {
			err = s.freeFor(after, b)
		}
		if after.Start.Equal(b.Start) {
			err = endField(err)
		}
		return after, bookingUpdated, err
	})
}

// CancelBooking takes a booking back; one that is under way is ended.
func (a *Agent) CancelBooking(ctx context.Context, id string, o BookingOptions) (booking.Booking, error) {
	return a.decide(ctx, id, o, func(_ *space, b booking.Booking, now time.Time) (booking.Booking, string, error) {
		after, err := b.Cancel(now)
		if after.State == booking.Ended {
			return after, bookingEnded, err
		}
		return after, bookingCancelled, err
	})
}

// CheckIn says that who booked is here.
func (a *Agent) CheckIn(ctx context.Context, id string, o BookingOptions) (booking.Booking, error) {
	return a.decide(ctx, id, o, func(s *space, b booking.Booking, now time.Time) (booking.Booking, string, error) {
		after, err := b.CheckIn(s.plan.terms.Load().rules, now)
		return after, bookingCheckedIn, err
	})
}

// ExtendBooking moves the end of a meeting to until, or by so much later if
// that is zero, if the space is free then.
func (a *Agent) ExtendBooking(ctx context.Context, id string, until time.Time, by time.Duration, o BookingOptions) (booking.Booking, error) {
	return a.decide(ctx, id, o, func(s *space, b booking.Booking, now time.Time) (booking.Booking, string, error) {
		if until.IsZero() {
			until = b.End.Add(by)
		}
		after, err := b.Extend(until.Truncate(time.Millisecond), s.plan.terms.Load().rules, now)
		if err == nil {
			err = s.freeFor(after, b)
		}
		return after, bookingUpdated, endField(err)
	})
}

// endField names the field that was asked for, where the start was not.
func endField(err error) error {
	if err == nil {
		return nil
	}
	if e := AsError(err); e.Busy != nil {
		return &Error{Code: e.Code, Field: "end_time", Message: e.Message, Busy: e.Busy}
	}
	return err
}

// EndBooking ends a meeting that is under way.
func (a *Agent) EndBooking(ctx context.Context, id string, o BookingOptions) (booking.Booking, error) {
	return a.decide(ctx, id, o, func(_ *space, b booking.Booking, now time.Time) (booking.Booking, string, error) {
		after, err := b.EndNow(now)
		return after, bookingEnded, err
	})
}
