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

// Caller says who asks, and what he has seen.
type Caller struct {
	Revision uint64 // the revision that the caller saw; 0: any
	Key      string // makes a repeated request the same one; unique per caller; empty: none
	By       string // the credential's name
	// Length is that of a walk-up that names no times; 0: as long as the space has time.
	Length time.Duration
	// Organizer is the e-mail address of a person, who makes and changes no bookings but
	// his own; empty: anybody's.
	Organizer string
	// AtDoor says that whoever stands there asks, whom nobody knows: he books and
	// extends as booking.Rules.AtDoor and ExtendAtDoor let him.
	AtDoor bool
	// Hidden says that who asks sees of a booking, as it is, only that the space is taken:
	// he changes nothing of it that he does not see. nil: he sees all.
	Hidden func(b *booking.Booking) bool
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
		if o.Key != "" && other.Answers(asked, o.Length) {
			return other, false, nil
		}
		return b, false, problem.New(problem.Conflict, "id", "was used before for another booking: choose a new one")
	}
	if asked.OrganizationID == "" { // no matter who books, it is somebody's
		if asked.OrganizationID, err = bk.o.Owner(r.ID); err != nil {
			return b, false, err
		}
	}
	now := bk.o.Clock.Now()
	if asked.Source == booking.WalkUp && asked.Start.IsZero() {
		asked.Start = now.UTC().Truncate(time.Second)
	}
	if o.Length != 0 {
		asked.End = asked.Start.Add(o.Length)
	}
	space := r.space()
	space.AtDoor = o.AtDoor
	b, err = space.Book(asked, now)
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

func by(o Caller) map[string]any {
	if o.By == "" {
		return nil
	}
	return map[string]any{"by": o.By}
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
	if !o.AtDoor && !(after.Start.Equal(b.Start) && after.End.Equal(b.End)) {
		after.Unsigned, after.Vouched = false, booking.Interval{} // the building says when it is
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
		if o.Hidden != nil && o.Hidden(&b) {
			if field := hiddenIn(e); field != "" {
				return b, "", problem.New(problem.Forbidden, field, "is hidden, the booking is private: only its organizer, an admin or a key changes it")
			}
		}
		after, err := b.Change(e, r.terms.Load().rules, now)
		if err == nil {
			err = r.space().FreeFor(after, b)
		}
		if after.Start.Equal(b.Start) {
			err = endField(err)
		}
		return after, Updated, err
	})
}

// hiddenIn is the first field of an edit that a booking hides from others while it is
// private; empty: none.
func hiddenIn(e booking.Edit) string {
	switch {
	case e.Private != nil:
		return "private"
	case e.Title != nil:
		return "title"
	case e.Organizer != nil:
		return "organizer"
	case e.ExternalID != nil:
		return "external_id"
	}
	return ""
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
		space := r.space()
		space.AtDoor = o.AtDoor
		after, err := space.Extend(b, until.Truncate(time.Millisecond), now)
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
