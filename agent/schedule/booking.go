package schedule

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/oklog/ulid/v2"

	"roomgate/agent/booking"
	"roomgate/agent/problem"
)

// walkUpLength is how long a walk-up is that says nothing of its end.
const walkUpLength = 30 * time.Minute

// Caller says who asks, and what he has seen.
type Caller struct {
	Revision uint64 // the revision that the caller saw; 0: any
	Key      string // makes a repeated request the same one; unique per caller; empty: none
	By       string // the credential's name
	// Organizer is the e-mail address of a person, who makes and changes no bookings but
	// his own; empty: anybody's.
	Organizer string
}

// Create books a space. With the key of an earlier request it returns
// that one's booking, and created is false.
func (bk *Book) Create(ctx context.Context, asked booking.Booking, o Caller) (b booking.Booking, created bool, err error) {
	if err := o.owns(asked, "organizer"); err != nil {
		return b, false, err
	}
	r, err := bk.room(asked.SpaceID)
	if err != nil {
		return b, false, err
	}
	if err := r.enter(ctx); err != nil {
		return b, false, err
	}
	defer r.turn.Unlock()
	switch {
	case asked.ID != "": // it makes the request the same one by itself
	case o.Key != "":
		asked.ID = keyedID(o.Key)
	default:
		asked.ID = ulid.Make().String()
	}
	if other, _, err := bk.find(asked.ID); err == nil {
		if o.Key != "" && repeats(asked, other) {
			return other, false, nil
		}
		return b, false, problem.New(problem.Conflict, "id", "was used before for another booking: choose a new one")
	}
	if asked.OrganizationID == "" { // whoever books, it is somebody's
		if asked.OrganizationID, err = bk.o.Owner(r.ID); err != nil {
			return b, false, err
		}
	}
	b, err = r.accept(asked, bk.o.Clock.Now())
	if err != nil {
		return b, false, err
	}
	if err := r.commit(ctx, []edit{{Booking: b, event: Created, more: by(o)}}); err != nil {
		return booking.Booking{}, false, err
	}
	return b, true, nil
}

// owns refuses a booking that is not of who asks, if he may have no other.
func (o Caller) owns(b booking.Booking, field string) error {
	if o.Organizer == "" || b.Organizer.Is(o.Organizer) {
		return nil
	}
	return problem.New(problem.Forbidden, field, "is not you: only an admin, or a key, makes and changes the bookings of others")
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
		asked.Private == b.Private && (asked.OrganizationID == "" || asked.OrganizationID == b.OrganizationID) && asked.ExternalID == b.ExternalID &&
		asked.Source == b.Source &&
		(asked.Start.IsZero() || asked.Start.Equal(b.Start)) &&
		(asked.End.IsZero() || asked.End.Equal(b.End) || asked.End.Equal(b.PlannedEnd))
}

func by(o Caller) map[string]any {
	if o.By == "" {
		return nil
	}
	return map[string]any{"by": o.By}
}

// accept judges a new booking. The caller has the turn.
func (r *Room) accept(asked booking.Booking, now time.Time) (booking.Booking, error) {
	t := r.terms.Load()
	switch asked.Source {
	case "":
		asked.Source = booking.Local
	case booking.WalkUp:
		r.walkUp(&asked, now)
	case booking.Local:
	default:
		return asked, problem.New(problem.Invalid, "source", "is %q: want local or walk_up", asked.Source)
	}
	b, err := booking.New(fresh(asked), t.rules, now)
	if err != nil {
		return b, err
	}
	return b, r.free(b.Start, b.End, b.ID)
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
func (r *Room) walkUp(b *booking.Booking, now time.Time) {
	if b.Start.IsZero() {
		b.Start = now.UTC().Truncate(time.Second)
	}
	if !b.End.IsZero() {
		return
	}
	rules := r.terms.Load().rules
	b.End = b.Start.Add(min(walkUpLength, rules.WalkUp))
	g := r.At(b.Start)
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
func (r *Room) free(start, end time.Time, id string) error {
	t := r.terms.Load()
	if !t.enabled {
		return problem.New(problem.Conflict, "meeting_space_id", "is out of use")
	}
	for _, h := range t.Holds {
		if h.Status != booking.Available && h.Overlaps(start, end) {
			e := problem.New(problem.Conflict, "start_time", "is not free: the space is set to %s then", h.Status)
			e.Busy = &problem.Interval{Start: h.From, End: h.Until} // zero: it has no end
			return e
		}
	}
	return r.bookings.Free(start, end, id)
}

// freeFor refuses times that a booking did not have before, if the space cannot
// be had then.
func (r *Room) freeFor(b, was booking.Booking) error {
	switch {
	case !b.Start.Before(was.Start) && !b.End.After(was.End):
		return nil
	case b.Start.Equal(was.Start):
		return r.free(was.End, b.End, b.ID)
	}
	return r.free(b.Start, b.End, b.ID)
}

// decision makes of a booking what it shall be, and names the event.
type decision func(r *Room, b booking.Booking, now time.Time) (after booking.Booking, event string, err error)

// decide changes one booking in its turn.
func (bk *Book) decide(ctx context.Context, id string, o Caller, f decision) (booking.Booking, error) {
	_, r, err := bk.find(id)
	if err != nil {
		return booking.Booking{}, err
	}
	if err := r.enter(ctx); err != nil {
		return booking.Booking{}, err
	}
	defer r.turn.Unlock()
	b, ok := r.bookings.Get(id)
	switch {
	case !ok:
		return b, problem.New(problem.NotFound, "booking_id", "is not a booking of this building")
	case o.owns(b, "booking_id") != nil:
		return booking.Booking{}, problem.New(problem.Forbidden, "booking_id", "is somebody else's: only its organizer, an admin or a key changes it")
	case o.Revision != 0 && o.Revision != b.Revision:
		return b, problem.New(problem.Stale, "If-Match", "is revision %d and the booking has %d: read it again", o.Revision, b.Revision)
	}
	after, event, err := f(r, b, bk.o.Clock.Now())
	if err != nil || after == b {
		return b, err
	}
	if err := o.owns(after, "organizer"); err != nil {
		return b, err
	}
	err = r.commit(ctx, []edit{{Booking: after, marks: r.marks[id], event: event, more: by(o)}})
	if err != nil {
		return b, err
	}
	return after, nil
}

// Change changes what the edit names.
func (bk *Book) Change(ctx context.Context, id string, e booking.Edit, o Caller) (booking.Booking, error) {
	return bk.decide(ctx, id, o, func(r *Room, b booking.Booking, now time.Time) (booking.Booking, string, error) {
		after, err := b.Change(e, r.terms.Load().rules, now)
		if err == nil {
			err = r.freeFor(after, b)
		}
		if after.Start.Equal(b.Start) {
			err = endField(err)
		}
		return after, Updated, err
	})
}

// Cancel takes a booking back; one that is under way is ended.
func (bk *Book) Cancel(ctx context.Context, id string, o Caller) (booking.Booking, error) {
	return bk.decide(ctx, id, o, func(_ *Room, b booking.Booking, now time.Time) (booking.Booking, string, error) {
		after, err := b.Cancel(now)
		if after.State == booking.Ended {
			return after, Ended, err
		}
		return after, Cancelled, err
	})
}

// CheckIn says that who booked is here.
func (bk *Book) CheckIn(ctx context.Context, id string, o Caller) (booking.Booking, error) {
	return bk.decide(ctx, id, o, func(r *Room, b booking.Booking, now time.Time) (booking.Booking, string, error) {
		after, err := b.CheckIn(r.terms.Load().rules, now)
		return after, CheckedIn, err
	})
}

// Extend moves the end of a meeting to until, or by so much later if
// that is zero, if the space is free then.
func (bk *Book) Extend(ctx context.Context, id string, until time.Time, by time.Duration, o Caller) (booking.Booking, error) {
	return bk.decide(ctx, id, o, func(r *Room, b booking.Booking, now time.Time) (booking.Booking, string, error) {
		if until.IsZero() {
			until = b.End.Add(by)
		}
		after, err := b.Extend(until.Truncate(time.Millisecond), r.terms.Load().rules, now)
		if err == nil {
			err = r.freeFor(after, b)
		}
		return after, Updated, endField(err)
	})
}

// endField names the field that was asked for, where the start was not.
func endField(err error) error {
	if err == nil {
		return nil
	}
	if e := problem.As(err); e != nil && e.Busy != nil {
		return &problem.Error{Code: e.Code, Field: "end_time", Message: e.Message, Busy: e.Busy}
	}
	return err
}

// End ends a meeting that is under way.
func (bk *Book) End(ctx context.Context, id string, o Caller) (booking.Booking, error) {
	return bk.decide(ctx, id, o, func(_ *Room, b booking.Booking, now time.Time) (booking.Booking, string, error) {
		after, err := b.EndNow(now)
		return after, Ended, err
	})
}
