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
)

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
				wait, err := r.takeSteps(ctx)
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

// takeSteps takes what is due in one space, and says how long it can wait.
func (r *Room) takeSteps(ctx context.Context) (wait time.Duration, err error) {
	if err := r.enter(ctx); err != nil {
		if removed(err) { // it has no steps any more
			err = nil
		}
		return longestWait, err
	}
	defer r.turn.Unlock()
	for {
		now := r.book.o.Clock.Now()
		b, step, at := r.due(r.book.o.Clock.Steady())
		if step == "" || at.After(now) {
			return r.idle(ctx, now, at)
		}
		if err := r.takeStep(ctx, b, step, at, now); err != nil {
			return longestWait, err
		}
	}
}

// idle does what a space needs between two steps, and says how long it can
// wait.
func (r *Room) idle(ctx context.Context, now, at time.Time) (time.Duration, error) {
	if ended, err := r.endEmpty(ctx, now); ended || err != nil {
		return 0, err
	}
	if err := r.forgetPast(ctx, now); err != nil {
		return longestWait, err
	}
	wait := longestWait
	if until := r.At(now).Until; !until.IsZero() {
		wait = min(wait, until.Sub(now))
	}
	if !at.IsZero() {
		wait = min(wait, at.Sub(now))
	}
	return wait, nil
}

// due is the earliest step in a space, which is awake since then. The caller
// has the turn.
func (r *Room) due(awake time.Time) (next booking.Booking, step booking.Step, at time.Time) {
	rules := r.terms.Load().rules
	rules.Awake = awake
	r.bookings.Walk(func(b *booking.Booking) bool {
		if step != "" && b.Start.After(at) {
			return false // nothing of it is due before it starts
		}
		what, when := b.Due(r.marks[b.ID], rules)
		if what == booking.Release {
			if spared := r.spared[b.ID]; spared.After(when) {
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
func (r *Room) takeStep(ctx context.Context, b booking.Booking, step booking.Step, at, now time.Time) error {
	e := edit{Booking: b, marks: r.marks[b.ID]}
	switch step {
	case booking.Start:
		e.marks, e.event, e.known = e.marks.Took(step, b), Started, true
	case booking.Warn:
		e.marks, e.known = e.marks.Took(step, b), true
		r.book.o.Log.Info("a booking will be released unless somebody checks in", "meeting_space", r.Name(), "booking", b.ID)
	case booking.Release:
		seen, blind := r.book.o.Presence(r.ID)
		switch {
		case seen.Value == Occupied:
			r.spared[b.ID] = now.Add(spareTime)
			return nil
		case blind && time.Since(r.book.started) < spareTime:
			r.spared[b.ID] = now.Add(time.Second)
			return nil
		}
		e.Booking = b.ReleaseNow("nobody checked in and the room is "+seenAs(seen), now)
		e.event, e.more = Released, map[string]any{"evidence": seen}
	case booking.End:
		ended, err := b.EndNow(at)
		if err != nil {
			return err
		}
		e.Booking, e.event = ended, Ended
	}
	if err := r.commit(ctx, []edit{e}); err != nil {
		return err
	}
	if step == booking.Warn {
		r.warned.Store(&b)
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
func (r *Room) endEmpty(ctx context.Context, now time.Time) (ended bool, err error) {
	rules := r.terms.Load().rules
	seen, _ := r.book.o.Presence(r.ID)
	switch {
	case seen.Value != Vacant:
		r.vacant = time.Time{}
	case r.vacant.IsZero():
		r.vacant = now
	}
	current, _ := r.bookings.Now(now)
	if rules.Empty == 0 || current == nil || current.State != booking.CheckedIn || r.vacant.IsZero() {
		return false, nil
	}
	since := r.vacant
	for _, at := range []time.Time{current.Start, current.CheckedInAt, r.book.o.Clock.Steady()} {
		if at.After(since) {
			since = at
		}
	}
	if now.Sub(since) < rules.Empty {
		return false, nil
	}
	after := current.EndEmpty("the room is empty since "+eventlog.Stamp(since), now)
	return true, r.commit(ctx, []edit{{Booking: after, event: Ended,
		more: map[string]any{"evidence": seen}}})
}

// forgetPast drops what has been over for long, once a day: by the clock, and
// by the time that was lived through since. The caller has the turn.
func (r *Room) forgetPast(ctx context.Context, now time.Time) error {
	day := int(now.Unix() / 86400)
	if r.pastDays == day {
		return nil
	}
	old, err := r.pastBookings(now.Add(-keepPast))
	if err != nil {
		return err
	}
	if len(old) > 0 {
		err := r.book.o.DB.Update(ctx, func(tx *store.Tx) error {
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
		r.bookings.Forget(old...)
		for _, id := range old {
			delete(r.marks, id)
		}
	}
	r.pastDays = day
	return nil
}

// pastBookings are the ids of those that were over before a time, and for
// keepPast of the time that was lived through.
func (r *Room) pastBookings(before time.Time) (old []string, err error) {
	lived := r.book.o.Clock.Lived()
	err = r.book.o.DB.View(func(tx *store.Tx) error {
		for _, b := range r.bookings.All(time.Time{}, before) {
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
