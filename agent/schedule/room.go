package schedule

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/config"
	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	"roomgate/agent/problem"
	"roomgate/store"
)

const (
	// maxBookings is how many bookings one room keeps, past ones among them.
	maxBookings = 20_000
	// keepPast is how long what is over is kept: by the clock, and of the time
	// that was lived through.
	keepPast = 30 * 24 * time.Hour
)

// Room is what is booked in a meeting space, and what holds there. It outlives
// a change of the space's configuration.
type Room struct {
	ID   string // the meeting space's
	book *Book

	turn     loop.Turn // holds a token while somebody changes the room
	config   atomic.Pointer[config.Space]
	bookings *booking.Schedule // readers take no lock but its own
	terms    atomic.Pointer[terms]
	shown    atomic.Pointer[shownState]      // what the state last said; nil: nothing yet
	asked    atomic.Pointer[asked]           // the last that the cloud was asked for; nil: nothing yet
	warned   atomic.Pointer[booking.Booking] // the last that the room was to be reminded of
	link     calendarLink
	steps    stepper

	// The holder of the turn owns the fields below.
	marks   map[string]booking.Marks // the steps that were taken; no entry: none
	answers map[string]answer        // what the cloud was last told in answer to a message, by booking
}

// terms are the rules of a room and what is set over them. They are replaced as
// a whole.
type terms struct {
	storedPlan
	rules    booking.Rules
	enabled  bool
	calendar *string // the URL that was set; nil: as configured
	lost     bool    // it was set and cannot be read
}

func newRoom(bk *Book, c config.Space, kept storedPlan) *Room {
	r := &Room{ID: c.ID, book: bk, turn: loop.NewTurn(), bookings: booking.NewSchedule(nil),
		link:  calendarLink{relinked: loop.NewSignal(), roomChanged: loop.NewSignal()},
		marks: map[string]booking.Marks{}}
	r.steps = stepper{Room: r, spared: map[string]time.Time{}}
	r.configure(c, kept)
	return r
}

// configure replaces the configuration of the room.
func (r *Room) configure(c config.Space, kept storedPlan) {
	r.config.Store(&c)
	r.keep(kept)
}

// keep lays what was set at run time over the configuration.
func (r *Room) keep(kept storedPlan) {
	c := kept.Availability.over(*r.config.Load())
	url, err := kept.linked(r.book.o.Keys, r.ID)
	r.terms.Store(&terms{kept, c.Rules(), c.Enabled, url, err != nil})
}

// load takes the stored bookings of the room.
func (r *Room) load(stored []storedBooking) {
	all := make([]booking.Booking, len(stored))
	for i, s := range stored {
		all[i] = s.Booking
		all[i].Unsigned, all[i].Vouched = s.Unsigned, s.Vouched
		setMarks(r.marks, s.ID, s.Marks)
	}
	r.bookings = booking.NewSchedule(all)
}

// enter waits for the turn of the room. If the room was removed meanwhile, it is
// refused: what would be stored now nobody would see.
func (r *Room) enter(ctx context.Context) error {
	if err := r.turn.Lock(ctx); err != nil {
		return err
	}
	if r.book.Room(r.ID) != r {
		r.turn.Unlock()
		return problem.New(problem.NotFound, "meeting_space_id", "is not a meeting space of this building: it was just removed or set up again, so nothing was changed")
	}
	return nil
}

// removed says that enter has refused a room because it was removed.
func removed(err error) bool {
	p := problem.As(err)
	return p != nil && p.Code == problem.NotFound
}

// Name is the meeting space's.
func (r *Room) Name() string { return r.config.Load().Name }

// Config is the configuration of the meeting space, with what was set over it
// at run time.
func (r *Room) Config() config.Space { return r.terms.Load().Availability.over(*r.config.Load()) }

// Rules are those that bookings of the room follow now.
func (r *Room) Rules() booking.Rules { return r.terms.Load().rules }

// space is what decides whether the room can be had.
func (r *Room) space() booking.Space {
	t := r.terms.Load()
	return booking.Space{Rules: t.rules, Enabled: t.enabled, Holds: t.Holds, Bookings: r.bookings}
}

// Noted is when the meeting space was first seen, and when something was last
// set over its configuration.
func (r *Room) Noted() (created, updated time.Time) {
	t := r.terms.Load()
	return t.CreatedAt, t.UpdatedAt
}

// Bookings are those of the room, to be read: only the book changes them.
func (r *Room) Bookings() *booking.Schedule { return r.bookings }

// Warned is the last booking that people in the room are to be reminded of, as
// it will be released unless somebody checks in; nil: there was none.
func (r *Room) Warned() *booking.Booking { return r.warned.Load() }

// setTerms stores what is set over a space's configuration, and shows it. The
// caller has the turn.
func (r *Room) setTerms(ctx context.Context, kept storedPlan) error {
	kept.UpdatedAt = r.book.o.Clock.Now().UTC().Truncate(time.Millisecond)
	return r.book.o.Events.Commit(ctx, r.stageTerms(ctx, kept), eventlog.Stage{Show: func() { r.changed() }})
}

func (r *Room) noteNewSpace(ctx context.Context) error {
	if err := r.enter(ctx); err != nil {
		return err
	}
	defer r.turn.Unlock()
	kept := r.terms.Load().storedPlan
	kept.CreatedAt = r.book.o.Clock.Now().UTC().Truncate(time.Millisecond)
	err := r.setTerms(ctx, kept)
	if store.Unstored(err) {
		r.book.o.Log.Error("cannot store when the space was first seen: free space on the disk", "meeting_space", r.Name())
		r.keep(kept)
		return nil
	}
	return err
}

// stageTerms is the change of what is set over a space's configuration. The
// caller has the turn.
func (r *Room) stageTerms(ctx context.Context, kept storedPlan) eventlog.Stage {
	return eventlog.Stage{
		Write: func(tx *store.Tx) error {
			return errors.Join(plans.Put(tx, r.ID, kept), eventlog.Audit(ctx, tx, nil))
		},
		Show: func() { r.keep(kept) },
	}
}
