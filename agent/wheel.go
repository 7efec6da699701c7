package agent

import (
	"context"
	"errors"
	"time"

	"roomgate/agent/booking"
	"roomgate/drivers"
	"roomgate/store"
)

const (
	// wheelStep is the longest that the wheel sleeps: a clock that was set is
	// noticed after so long.
	wheelStep = 10 * time.Second
	// spareTime is how long a booking is left alone because the room is
	// occupied, before it is looked at again.
	spareTime = time.Minute
)

// runWheel takes the steps of every booking when they are due: start, warn,
// release and end. A step is stored with its booking and its event in one
// transaction, so a restart or a clock that is set takes none twice; one that
// fell into a time without power is taken late. While the clock is not trusted
// none is taken.
func (a *Agent) runWheel(ctx context.Context) error {
	for {
		next := wheelStep
		if a.clock.Trust() == Trusted {
			for _, s := range a.spaces() {
				wait, err := a.turnWheel(ctx, s)
				if err != nil && ctx.Err() == nil {
					a.log.Error("a step of a booking cannot be stored, it is tried again", "meeting_space", s.Name, "error", err)
				}
				next = min(next, wait)
			}
		}
		a.showSigns()
		select {
		case <-ctx.Done():
			return nil
		case <-a.wheelTurn:
		case <-time.After(max(next, time.Millisecond)):
		}
	}
}

// turnWheel takes what is due in one space, and says how long it can wait.
func (a *Agent) turnWheel(ctx context.Context, s *space) (wait time.Duration, err error) {
	if err := s.plan.turn.Lock(ctx); err != nil {
		return wheelStep, err
	}
	defer s.plan.turn.Unlock()
	for {
		now := a.Now()
		b, step, at := s.due(a.clock.Steady())
		if step == "" || at.After(now) {
			return a.idle(ctx, s, now, at)
		}
		if err := a.takeStep(ctx, s, b, step, at, now); err != nil {
			return wheelStep, err
		}
	}
}

// idle does what a space needs between two steps, and says how long it can
// wait.
func (a *Agent) idle(ctx context.Context, s *space, now, at time.Time) (time.Duration, error) {
	if ended, err := a.endEmpty(ctx, s, now); ended || err != nil {
		return 0, err
	}
	if err := a.forgetPast(ctx, s, now); err != nil {
		return wheelStep, err
	}
	wait := wheelStep
	if until := s.sign(now).Until; !until.IsZero() {
		wait = min(wait, until.Sub(now))
	}
	if !at.IsZero() {
		wait = min(wait, at.Sub(now))
	}
	return wait, nil
}

// due is the earliest step in a space, which is awake since then. The caller
// has the turn.
func (s *space) due(awake time.Time) (next booking.Booking, step booking.Step, at time.Time) {
	rules := s.plan.terms.Load().rules
	rules.Awake = awake
	s.plan.bookings.Walk(func(b *booking.Booking) bool {
		if step != "" && b.Start.After(at) {
			return false // nothing of it is due before it starts
		}
		what, when := b.Due(s.plan.marks[b.ID], rules)
		if what == booking.Release {
			if spared := s.plan.spared[b.ID]; spared.After(when) {
				when = spared
				if !b.End.After(when) {
					what, when = booking.End, b.End
				}
			}
		}
		if step == "" || when.Before(at) {
			next, step, at = *b, what, when
		}
		return true
	})
	return next, step, at
}

// takeStep does to a booking what time does.
func (a *Agent) takeStep(ctx context.Context, s *space, b booking.Booking, step booking.Step, at, now time.Time) error {
	e := edit{Booking: b, marks: s.plan.marks[b.ID]}
	switch step {
	case booking.Start:
		e.marks, e.event, e.known = e.marks.Took(step, b), bookingStarted, true
	case booking.Warn:
		e.marks, e.known = e.marks.Took(step, b), true
		a.log.Info("a booking will be released unless somebody checks in", "meeting_space", s.Name, "booking", b.ID)
	case booking.Release:
		seen := s.presence()
		switch {
		case seen.Value == Occupied:
			s.plan.spared[b.ID] = now.Add(spareTime)
			return nil
		case s.blind() && time.Since(a.started) < spareTime:
			s.plan.spared[b.ID] = now.Add(time.Second)
			return nil
		}
		e.Booking = b.ReleaseNow("nobody checked in and the room is "+seenAs(seen), now)
		e.event, e.more = bookingReleased, map[string]any{"evidence": seen}
	case booking.End:
		ended, err := b.EndNow(at)
		if err != nil {
			return err
		}
		e.Booking, e.event = ended, bookingEnded
	}
	if err := a.commit(ctx, s, []edit{e}, nil); err != nil {
		return err
	}
	if step == booking.Warn {
		s.warn(b)
	}
	return nil
}

// blind says that the space's sensor has not answered since the start, so that
// nobody can tell whether the room is empty.
func (s *space) blind() bool {
	d := s.byType[drivers.TypeO3]
	return d != nil && d.live().Enabled && !d.seen.Load()
}

// seenAs words what is known of people in the room.
func seenAs(p Presence) string {
	if p.Value == Unknown {
		return "not watched"
	}
	return p.Value
}

// endEmpty gives a meeting's rest back if the room has been empty for as long
// as its space says. The caller has the turn.
func (a *Agent) endEmpty(ctx context.Context, s *space, now time.Time) (ended bool, err error) {
	rules := s.plan.terms.Load().rules
	seen := s.presence()
	switch {
	case seen.Value != Vacant:
		s.plan.vacant = time.Time{}
	case s.plan.vacant.IsZero():
		s.plan.vacant = now
	}
	current, _ := s.plan.bookings.Now(now)
	if rules.Empty == 0 || current == nil || current.State != booking.CheckedIn || s.plan.vacant.IsZero() {
		return false, nil
	}
	since := s.plan.vacant
	for _, at := range []time.Time{current.Start, current.CheckedInAt, a.clock.Steady()} {
		if at.After(since) {
			since = at
		}
	}
	if now.Sub(since) < rules.Empty {
		return false, nil
	}
	after := current.EndEmpty("the room is empty since "+stamp(since), now)
	return true, a.commit(ctx, s, []edit{{Booking: after, event: bookingEnded,
		more: map[string]any{"evidence": seen}}}, nil)
}

// forgetPast drops what has been over for long, once a day: by the clock, and
// by the time that was lived through since. The caller has the turn.
func (a *Agent) forgetPast(ctx context.Context, s *space, now time.Time) error {
	day := int(now.Unix() / 86400)
	if s.plan.pastDays == day {
		return nil
	}
	old, err := a.pastBookings(s, now.Add(-keepPast))
	if err != nil {
		return err
	}
	if len(old) > 0 {
		err := a.db.Update(ctx, func(tx *store.Tx) error {
			for _, id := range old {
				if err := bookings.Delete(tx, id); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return errors.Join(errors.New("forget past bookings"), err)
		}
		s.plan.bookings.Forget(old...)
		for _, id := range old {
			delete(s.plan.marks, id)
		}
	}
	s.plan.pastDays = day
	return nil
}

// pastBookings are the ids of those that were over before a time, and for
// keepPast of the time that was lived through.
func (a *Agent) pastBookings(s *space, before time.Time) (old []string, err error) {
	lived := a.clock.Lived()
	err = a.db.View(func(tx *store.Tx) error {
		for _, b := range s.plan.bookings.All(time.Time{}, before) {
			if b.Live() || !b.End.Before(before) {
				continue
			}
			row, err := bookings.Get(tx, b.ID)
			if err == nil && lived.Since(row.Over) >= keepPast {
				old = append(old, b.ID)
			}
		}
		return nil
	})
	return old, err
}

// showSigns tells whoever follows a sign that it has changed.
func (a *Agent) showSigns() {
	now, trust, changed := a.Now(), a.clock.Trust(), false
	for _, s := range a.spaces() {
		shows := s.shows(now, trust)
		if old := s.plan.shown.Swap(&shows); old == nil || *old != shows {
			s.changed()
			changed = true
		}
	}
	if changed {
		a.signs.Wake()
	}
}
