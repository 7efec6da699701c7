package schedule

import (
	"context"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"roomgate/agent/booking"
	"roomgate/agent/clock"
	"roomgate/agent/config"
	"roomgate/agent/eventlog"
	"roomgate/agent/patch"
	"roomgate/agent/problem"
)

// aroundTheClock is how texts name AroundTheClock.
const aroundTheClock = problem.FieldName("24_hr_available")

// maxHolds is how many states may be scheduled for one space.
const maxHolds = 100

// Availability is what of a space's configuration may be set at run time; nil
// is as configured.
type Availability struct {
	Enabled                 *bool         `json:"enabled,omitempty"`
	SlotSize                *int          `json:"slot_size,omitempty"` // minutes
	AllowCurrentTimeBooking *bool         `json:"allow_current_time_booking,omitempty"`
	AroundTheClock          *bool         `json:"24_hr_available,omitempty"`
	Hours                   *config.Hours `json:"hours,omitempty"`
}

// over lays what was set over the configuration.
func (v Availability) over(c config.Space) config.Space {
	patch.Set(&c.Enabled, v.Enabled)
	patch.Set(&c.SlotSize, v.SlotSize)
	patch.Set(&c.AllowCurrentTimeBooking, v.AllowCurrentTimeBooking)
	patch.Set(&c.AroundTheClock, v.AroundTheClock)
	patch.Set(&c.Booking.Hours, v.Hours)
	return c
}

// and is v with what w sets.
func (v Availability) and(w Availability) Availability {
	patch.Keep(&v.Enabled, w.Enabled)
	patch.Keep(&v.SlotSize, w.SlotSize)
	patch.Keep(&v.AllowCurrentTimeBooking, w.AllowCurrentTimeBooking)
	patch.Keep(&v.AroundTheClock, w.AroundTheClock)
	patch.Keep(&v.Hours, w.Hours)
	return v
}

// SetAvailability stores what the caller sets over the configuration, and
// returns what holds then.
func (bk *Book) SetAvailability(ctx context.Context, spaceID string, v Availability) (Availability, error) {
	r, err := bk.room(spaceID)
	if err != nil {
		return v, err
	}
	if err := r.enter(ctx); err != nil {
		return v, err
	}
	defer r.turn.Unlock()
	switch {
	case v.Hours != nil && v.AroundTheClock == nil: // hours mean that it closes
		v.AroundTheClock = new(bool)
	case v.Hours != nil && *v.AroundTheClock && *v.Hours != (config.Hours{}):
		return v, problem.New(problem.Invalid, "hours", "are there and %v is true: send one of them", aroundTheClock)
	}
	kept := r.terms.Load().storedPlan
	kept.Availability = kept.Availability.and(v)
	if err := kept.Availability.check(*r.config.Load()); err != nil {
		return v, err
	}
	if err := r.setTerms(ctx, kept); err != nil {
		return v, err
	}
	return r.availability(), nil
}

// check refuses what no space can be run with.
func (v Availability) check(c config.Space) error {
	c = v.over(c)
	if c.SlotSize < 5 || c.SlotSize > 240 {
		return problem.New(problem.Invalid, "slot_size", "is out of range: want 5 to 240 minutes")
	}
	week, err := c.Booking.Hours.Week()
	if err != nil {
		return problem.New(problem.Invalid, "hours", "are wrong: %v", err)
	}
	if !c.AroundTheClock && week == nil {
		return problem.New(problem.Invalid, "hours", "are missing: name them, or set %v", aroundTheClock)
	}
	return nil
}

// Availability returns what holds now of when and how a space may be booked.
func (bk *Book) Availability(spaceID string) (Availability, error) {
	r, err := bk.room(spaceID)
	if err != nil {
		return Availability{}, err
	}
	return r.availability(), nil
}

// availability is what holds now.
func (r *Room) availability() Availability {
	c := r.Config()
	return Availability{&c.Enabled, &c.SlotSize, &c.AllowCurrentTimeBooking, &c.AroundTheClock, &c.Booking.Hours}
}

// Hold sets the state of a space for a time, from now on if From is zero.
// Available lifts what is set from then on.
func (bk *Book) Hold(ctx context.Context, spaceID string, h booking.Hold) (booking.Hold, error) {
	r, err := bk.room(spaceID)
	if err != nil {
		return h, err
	}
	now := bk.o.Clock.Now().UTC().Truncate(time.Millisecond)
	if h.From.IsZero() {
		h.From = now
	}
	h.From, h.Until = h.From.UTC().Truncate(time.Millisecond), h.Until.UTC().Truncate(time.Millisecond)
	if err := checkHold(h, now); err != nil {
		return h, err
	}
	if err := r.enter(ctx); err != nil {
		return h, err
	}
	defer r.turn.Unlock()
	kept := r.terms.Load().storedPlan
	h.ID = ulid.Make().String()
	if kept.Holds, err = laid(kept.Holds, h, now); err != nil {
		return h, err
	}
	return h, r.setTerms(ctx, kept)
}

func checkHold(h booking.Hold, now time.Time) error {
	known := []booking.Status{booking.Available, booking.Reserved, booking.Occupied, booking.Disabled}
	switch {
	case !slices.Contains(known, h.Status):
		return problem.New(problem.Invalid, "status", "is not known: want available, reserved, occupied or disabled")
	case !eventlog.Storable(h.From):
		return problem.New(problem.Invalid, "from", "is out of range: want a year from 1970 to 9999")
	case !eventlog.Storable(h.Until):
		return problem.New(problem.Invalid, "until", "is out of range: want a year from 1970 to 9999")
	case !h.Until.IsZero() && !h.Until.After(h.From):
		return problem.New(problem.Invalid, "until", "is not after %v", problem.FieldName("from"))
	case !h.Until.IsZero() && !h.Until.After(now):
		return problem.New(problem.Invalid, "until", "is past")
	case len(h.Note) > 500:
		return problem.New(problem.Invalid, "note", "is longer than 500 bytes")
	}
	return nil
}

// laid puts a hold over the others: it ends or cuts those that it overlaps.
func laid(holds []booking.Hold, h booking.Hold, now time.Time) ([]booking.Hold, error) {
	var out []booking.Hold
	over := func(h booking.Hold, at time.Time) bool { return !h.Until.IsZero() && !h.Until.After(at) }
	for _, old := range holds {
		if !over(old, now.Add(-clock.MaxStep)) { // what seems over may come back with the clock
			out = append(out, cut(old, h)...)
		}
	}
	if h.Status != booking.Available {
		out = append(out, h)
	}
	slices.SortFunc(out, func(a, b booking.Hold) int { return a.From.Compare(b.From) })
	if len(out) > maxHolds {
		out = slices.DeleteFunc(out, func(h booking.Hold) bool { return over(h, now) })
	}
	if len(out) > maxHolds {
		return nil, problem.New(problem.Conflict, "", "%d states are scheduled already: lift some", maxHolds)
	}
	return out, nil
}

// cut is what is left of old beside h.
func cut(old, h booking.Hold) (left []booking.Hold) {
	if !h.Until.IsZero() && !old.Overlaps(h.From, h.Until) || h.Until.IsZero() && !old.Until.IsZero() && !old.Until.After(h.From) {
		return []booking.Hold{old}
	}
	if old.From.Before(h.From) {
		before := old
		before.Until = h.From
		left = append(left, before)
	}
	if !h.Until.IsZero() && (old.Until.IsZero() || h.Until.Before(old.Until)) {
		after := old
		after.ID, after.From = ulid.Make().String(), h.Until
		left = append(left, after)
	}
	return left
}
