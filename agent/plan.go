package agent

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/config"
	"roomgate/agent/loop"
	"roomgate/store"
)

const (
	// maxBookings is how many bookings one space keeps, past ones among them.
	maxBookings = 20_000
	// keepPast is how long what is over is kept: by the clock, and of the time
	// that was lived through.
	keepPast = 30 * 24 * time.Hour
)

// plan is what is booked in a space, and what holds there. Readers take no
// lock but the schedule's own.
type plan struct {
	turn     loop.Turn // holds a token while somebody changes the plan
	config   atomic.Pointer[config.Space]
	bookings *booking.Schedule
	terms    atomic.Pointer[terms]
	shown    atomic.Pointer[shownSign] // what the sign last said; nil: nothing yet

	// What follows belongs to who has the turn.
	marks    map[string]booking.Marks // the steps that were taken; no entry: none
	spared   map[string]time.Time     // the room is occupied: look again then
	vacant   time.Time                // since when the room was seen empty; zero: it is not
	pastDays int                      // the day on which past bookings were last forgotten
	answers  map[string]answer        // what the cloud was last told in answer to a message, by booking
}

// terms are the rules of a space and what is set over them. They are replaced
// as a whole.
type terms struct {
	storedPlan
	rules   booking.Rules
	enabled bool
}

func newPlan(c config.Space, kept storedPlan) *plan {
	p := &plan{turn: loop.NewTurn(), bookings: booking.NewSchedule(nil),
		marks: map[string]booking.Marks{}, spared: map[string]time.Time{}}
	p.configure(c, kept)
	return p
}

// configure makes a configuration the one that the plan goes by.
func (p *plan) configure(c config.Space, kept storedPlan) {
	p.config.Store(&c)
	p.keep(kept)
}

// keep lays what was set at run time over the configuration.
func (p *plan) keep(kept storedPlan) {
	c := kept.Availability.over(*p.config.Load())
	p.terms.Store(&terms{kept, c.Rules(), c.Enabled})
}

// load takes the stored bookings of the space.
func (p *plan) load(stored []storedBooking) {
	all := make([]booking.Booking, len(stored))
	for i, s := range stored {
		all[i] = s.Booking
		p.mark(s.ID, s.Marks)
	}
	p.bookings = booking.NewSchedule(all)
}

// mark remembers the steps that were taken. Those of a booking that is not
// live stay: the cloud may give its time back to it.
func (p *plan) mark(id string, m booking.Marks) {
	if m == (booking.Marks{}) {
		delete(p.marks, id)
		return
	}
	p.marks[id] = m
}

// edit is one booking as it shall be from now on.
type edit struct {
	booking.Booking
	marks booking.Marks
	event string         // what has happened, as "booking.created"; empty: nothing to tell here
	more  map[string]any // details of the event
	known bool           // the cloud has it like that
	ruled bool           // the cloud has brought it into this state itself
}

// commit stores edits with their events in one transaction, and only then
// shows them. The caller has the turn.
func (a *Agent) commit(ctx context.Context, s *space, edits []edit, also func(*store.Tx) error) error {
	if err := s.plan.room(edits); err != nil {
		return err
	}
	moved, err := a.claim(s, edits)
	if err != nil {
		return err
	}
	defer a.ids.release(edits)
	now := a.Now()
	notices := a.notices(s, edits)
	err = a.db.Update(ctx, func(tx *store.Tx) error {
		for _, e := range edits {
			if err := a.storeEdit(tx, s, e, now); err != nil {
				return err
			}
		}
		if err := notices.Write(tx); err != nil {
			return err
		}
		if also != nil {
			return also(tx)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for id, from := range moved {
		from.plan.bookings.Forget(id)
	}
	s.plan.show(edits)
	notices.Show()
	a.planChanged(s)
	return nil
}

// room refuses more bookings than a space keeps.
func (p *plan) room(edits []edit) error {
	more := 0
	for _, e := range edits {
		if _, known := p.bookings.Get(e.ID); !known {
			more++
		}
	}
	if more > 0 && p.bookings.Len()+more > maxBookings {
		return refuse(Full, "", "the space would have more than %d bookings, past ones among them: send fewer, or wait until old ones are forgotten", maxBookings)
	}
	return nil
}

// show takes over what was stored.
func (p *plan) show(edits []edit) {
	shown := make([]booking.Booking, len(edits))
	for i, e := range edits {
		shown[i] = e.Booking
		delete(p.spared, e.ID)
		p.mark(e.ID, e.marks)
	}
	p.bookings.Put(shown...)
}

func (a *Agent) storeEdit(tx *store.Tx, s *space, e edit, now time.Time) error {
	kept := storedBooking{Booking: e.Booking, Marks: e.marks}
	if !e.Live() {
		kept.Over = a.clock.Lived()
	}
	if err := bookings.Put(tx, e.ID, kept); err != nil {
		return err
	}
	if e.event != "" {
		line, err := a.bookingEvent(s, e, now)
		if err != nil {
			return err
		}
		if err := a.Events.Push(tx, line); err != nil {
			return err
		}
	}
	if e.known {
		return nil
	}
	line, err := a.bookingRow(s, e.Booking, now)
	if err != nil {
		return err
	}
	return a.Events.Push(tx, line)
}

// planChanged wakes whoever follows the plan of a space.
func (a *Agent) planChanged(s *space) {
	a.Events.Grow()
	s.changed()
	s.almanac.stirred.Wake()
	a.wheelTurn.Wake()
}

// setTerms stores what is set over a space's configuration, and shows it. The
// caller has the turn.
func (a *Agent) setTerms(ctx context.Context, s *space, kept storedPlan) error {
	kept.UpdatedAt = a.Now().UTC().Truncate(time.Millisecond)
	err := a.db.Update(ctx, func(tx *store.Tx) error { return plans.Put(tx, s.ID, kept) })
	if err != nil {
		return err
	}
	s.plan.keep(kept)
	a.planChanged(s)
	return nil
}

// bearPlans notes when spaces were first seen. A full disk is no reason not to
// go on: then it is noted at the next start.
func (a *Agent) bearPlans(ctx context.Context) error {
	for _, s := range a.spaces() {
		if !s.plan.terms.Load().CreatedAt.IsZero() {
			continue
		}
		if err := a.bearPlan(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func (a *Agent) bearPlan(ctx context.Context, s *space) error {
	if err := s.plan.turn.Lock(ctx); err != nil {
		return err
	}
	defer s.plan.turn.Unlock()
	kept := s.plan.terms.Load().storedPlan
	kept.CreatedAt = a.Now().UTC().Truncate(time.Millisecond)
	err := a.setTerms(ctx, s, kept)
	if errors.Is(err, store.ErrFull) {
		a.log.Error("when the space was first seen cannot be stored: free space on the disk", "meeting_space", s.Name)
		s.plan.keep(kept)
		return nil
	}
	return err
}
