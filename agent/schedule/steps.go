package schedule

import (
	"context"
	"errors"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/clock"
	"roomgate/agent/eventlog"
	"roomgate/store"
)

const (
	// longestWait is the longest that nobody looks for steps: a clock that was set is
	// noticed after so long.
	longestWait = 10 * time.Second
	// spareTime is how long a booking is left alone because the room is
	// occupied, before it is looked at again.
	spareTime = time.Minute
	// endedLate is for how long a booking is not ended whose end the clock has passed over: whoever sets a clock wrongly sets it
	// right again. What is shown goes by its times meanwhile.
	endedLate = 10 * time.Minute
)

// stepper takes the steps of a room's bookings when they are due. The holder of
// the turn of the room owns its fields.
type stepper struct {
	*Room
	spared   map[string]time.Time // the room is occupied: look again then
	vacant   time.Time            // since when the room was seen empty; zero: it is not
	pastDays int                  // the day on which past bookings were last forgotten
}

// runSteps takes the steps of every booking when they are due: start, warn,
// release and end. A step is stored with its booking and its event in one
// transaction, so a restart or a clock that is set takes none twice; one that
// fell into a time without power is taken late. While the clock is not trusted
// none is taken.
func (bk *Book) runSteps(ctx context.Context) error {
	for {
		next := longestWait
		if bk.o.Clock.Trust() == clock.Trusted {
			for _, r := range bk.rooms.Load().order {
				wait, err := r.steps.take(ctx)
				if err != nil && ctx.Err() == nil {
					bk.o.Log.Error("cannot store a step of a booking, trying again", "meeting_space", r.Name(), "error", err)
				}
				next = min(next, wait)
			}
		}
		bk.showStates()
		select {
		case <-ctx.Done():
			return nil
		case <-bk.woken:
		case <-time.After(max(next, time.Millisecond)):
		}
	}
}

// take takes what is due in one space, and says how long it can wait.
func (st *stepper) take(ctx context.Context) (wait time.Duration, err error) {
	if err := st.enter(ctx); err != nil {
		if removed(err) { // it has no steps any more
			err = nil
		}
		return longestWait, err
	}
	defer st.turn.Unlock()
	for {
		now := st.book.o.Clock.Now()
		b, step, at := st.due(st.book.o.Clock.Steady())
		if step == "" || at.After(now) {
			return st.idle(ctx, now, at)
		}
		if err := st.takeStep(ctx, b, step, at, now); err != nil {
			return longestWait, err
		}
	}
}

// idle does what a space needs between two steps, and says how long it can
// wait.
func (st *stepper) idle(ctx context.Context, now, at time.Time) (time.Duration, error) {
	if ended, err := st.endEmpty(ctx, now); ended || err != nil {
		return 0, err
	}
	if err := st.forgetPast(ctx, now); err != nil {
		return longestWait, err
	}
	wait := longestWait
	if until := st.At(now).Until; !until.IsZero() {
		wait = min(wait, until.Sub(now))
	}
	if !at.IsZero() {
		wait = min(wait, at.Sub(now))
	}
	return wait, nil
}

// due is the earliest step in a space, which is awake since then. The caller
// has the turn.
func (st *stepper) due(awake time.Time) (next booking.Booking, step booking.Step, at time.Time) {
	rules := st.terms.Load().rules
	rules.Awake = awake
	st.bookings.Walk(func(b *booking.Booking) bool {
		if step != "" && b.Start.After(at) {
			return false // nothing of it is due before it starts
		}
		what, when := b.Due(st.marks[b.ID], rules)
		if what == booking.Release {
			if spared := st.spared[b.ID]; spared.After(when) {
				when = spared
				if !b.End.After(when) {
					what, when = booking.End, b.End
				}
			}
		}
		if what == booking.End && when.Before(awake) && st.book.o.Clock.Stepped() { // nobody has lived through its end
			when = awake.Add(endedLate)
		}
		if step == "" || when.Before(at) {
			next, step, at = *b, what, when
		}
		return true
	})
	return next, step, at
}

// takeStep does to a booking what time does.
func (st *stepper) takeStep(ctx context.Context, b booking.Booking, step booking.Step, at, now time.Time) error {
	e := edit{Booking: b, marks: st.marks[b.ID]}
	switch step {
	case booking.Start:
		e.marks, e.event, e.known = e.marks.Took(step, b), Started, true
	case booking.Warn:
		e.marks, e.known = e.marks.Took(step, b), true
		st.book.o.Log.Info("a booking will be released unless somebody checks in", "meeting_space", st.Name(), "booking", b.ID)
	case booking.Release:
		seen, blind := st.book.o.Presence(st.ID)
		switch {
		case seen.Value == Occupied:
			st.spared[b.ID] = now.Add(spareTime)
			return nil
		case blind && time.Since(st.book.started) < spareTime:
			st.spared[b.ID] = now.Add(time.Second)
			return nil
		}
		e.Booking = b.ReleaseNow("nobody checked in and the room is "+seenAs(seen), now)
		e.event, e.more = Released, map[string]any{"evidence": seen}
	case booking.End:
		ended, err := b.EndNow(b.End)
		if err != nil {
			return err
		}
		e.Booking, e.event = ended, Ended
	}
	if err := st.commit(ctx, []edit{e}); err != nil {
		return err
	}
	if step == booking.Warn {
		st.warned.Store(&b)
	}
	return nil
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
func (st *stepper) endEmpty(ctx context.Context, now time.Time) (ended bool, err error) {
	rules := st.terms.Load().rules
	seen, _ := st.book.o.Presence(st.ID)
	switch {
	case seen.Value != Vacant:
		st.vacant = time.Time{}
	case st.vacant.IsZero():
		st.vacant = now
	}
	current, _ := st.bookings.Now(now)
	if rules.Empty == 0 || current == nil || current.State != booking.CheckedIn || st.vacant.IsZero() {
		return false, nil
	}
	since := st.vacant
	for _, at := range []time.Time{current.Start, current.CheckedInAt, st.book.o.Clock.Steady()} {
		if at.After(since) {
			since = at
		}
	}
	if now.Sub(since) < rules.Empty {
		return false, nil
	}
	after := current.EndEmpty("the room is empty since "+eventlog.Stamp(since), now)
	return true, st.commit(ctx, []edit{{Booking: after, event: Ended,
		more: map[string]any{"evidence": seen}}})
}

// forgetPast drops what has been over for long, once a day: by the clock, and
// by the time that was lived through since. The caller has the turn.
func (st *stepper) forgetPast(ctx context.Context, now time.Time) error {
	day := int(now.Unix() / 86400)
	if st.pastDays == day {
		return nil
	}
	old, err := st.pastBookings(now.Add(-keepPast))
	if err != nil {
		return err
	}
	if len(old) > 0 {
		err := st.book.o.DB.Update(ctx, func(tx *store.Tx) error {
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
		st.bookings.Forget(old...)
		for _, id := range old {
			delete(st.marks, id)
		}
	}
	st.pastDays = day
	return nil
}

// pastBookings are the ids of those that were over before a time, and for
// keepPast of the time that was lived through.
func (st *stepper) pastBookings(before time.Time) (old []string, err error) {
	lived := st.book.o.Clock.Lived()
	err = st.book.o.DB.View(func(tx *store.Tx) error {
		for _, b := range st.bookings.All(time.Time{}, before) {
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

// showStates tells anybody who follows the state of a room that it has changed.
func (bk *Book) showStates() {
	now, trust := bk.o.Clock.Now(), bk.o.Clock.Trust()
	for _, r := range bk.rooms.Load().order {
		shows := r.shows(now, trust)
		if old := r.shown.Swap(&shows); old == nil || *old != shows {
			bk.o.Changed(r.ID)
		}
	}
}
