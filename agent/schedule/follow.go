package schedule

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/calendar"
	"roomgate/agent/calendarlink"
	"roomgate/agent/eventlog"
	"roomgate/agent/outgoing"
)

// follower follows the external calendar of a room.
type follower struct {
	*Room
	interval time.Duration  // from one reading to the next
	feed     *calendar.Feed // nil: none was read yet
}

// followCalendar follows the external calendar of a room while the room has
// that configuration.
func (bk *Book) followCalendar(ctx context.Context, r configured) error {
	f := &follower{Room: r.Room, interval: r.as.Calendar.Interval}
	f.follow(ctx)
	return nil
}

// follow reads the calendar again and again. A calendar that it cannot read changes
// nothing.
func (f *follower) follow(ctx context.Context) {
	failing := false
	for {
		url, client := f.calendarURL(), f.book.calendars.of(f.Room)
		if f.feed == nil || f.feed.URL != url || f.feed.Client != client {
			f.feed = &calendar.Feed{URL: url, Client: client, Zone: f.Rules().Zone, Interval: f.interval}
		}
		wait := 24 * time.Hour
		if url != "" {
			err := f.read(ctx)
			if err != nil && !failing && ctx.Err() == nil {
				f.book.o.Log.Warn("cannot read the external calendar, keeping what was read before", "meeting_space", f.Name(), "error", err, "reason", outgoing.Reason(err))
			}
			failing, wait = err != nil, f.feed.Next()
		}
		if !f.await(ctx, wait) {
			client.CloseIdleConnections()
			return
		}
	}
}

// await waits until the calendar is to be read again; false: ctx has ended.
// Meanwhile, when the room may be free for a meeting that was displaced, what
// was read last is laid over the room again.
func (f *follower) await(ctx context.Context, wait time.Duration) bool {
	due := time.NewTimer(wait)
	defer due.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-f.link.relinked:
			return true
		case <-due.C:
			return true
		case <-f.link.roomChanged:
		}
		now := f.book.o.Clock.Now()
		if f.feed.URL == "" || !f.displaced(now) {
			continue
		}
		to := now.Add(f.Rules().Horizon)
		if read, err := f.feed.Expand(now, to); err == nil {
			_, err = f.take(ctx, calendarlink.Page{Result: read, From: now, To: to}, false)
			if err != nil && !errors.Is(err, errRelinked) && ctx.Err() == nil {
				f.book.o.Log.Error("cannot store a meeting of the external calendar", "meeting_space", f.Name(), "error", err)
			}
		}
	}
}

// displaced says that a meeting of the calendar waits for a time that is free.
func (f *follower) displaced(now time.Time) bool {
	waiting := f.bookings.Filter(func(b *booking.Booking) bool {
		return b.Source == booking.Calendar && b.State == booking.Displaced && b.End.After(now)
	})
	return slices.ContainsFunc(waiting, func(b booking.Booking) bool {
		return f.bookings.Free(b.Start, b.End, b.ID) == nil
	})
}

// read reads the calendar once and lays it over the room. While it cannot be
// read, what was read last is laid there again: the days go on, and a room that
// was taken may be free by now.
func (f *follower) read(ctx context.Context) error {
	reading := f.book.calendars.turn
	if err := reading.Lock(ctx); err != nil {
		return err
	}
	defer reading.Unlock()
	now := f.book.o.Clock.Now()
	to := now.Add(f.Rules().Horizon)
	read, err := f.feed.Fetch(ctx, now, to)
	good := err == nil
	if !good {
		read, _ = f.feed.Expand(now, to) // empty if there is none
	}
	doubts, failed := f.take(ctx, calendarlink.Page{Result: read, From: now, To: to}, good)
	if errors.Is(failed, errRelinked) {
		return nil
	}
	err = cmp.Or(err, failed)
	seen := Link{URL: f.feed.Redacted(), Problems: append(doubts, read.Problems...)}
	if err != nil {
		if old := f.link.last.Load(); old != nil && old.URL == seen.URL {
			seen.FetchedAt, seen.Problems = old.FetchedAt, old.Problems
		}
		seen.Error = err.Error()
	} else {
		seen.FetchedAt = eventlog.StampOrNil(now)
	}
	f.link.last.Store(&seen)
	return err
}

// errRelinked says that the space follows another calendar by now.
var errRelinked = errors.New("the space follows another calendar")

// take makes the room's calendar bookings what a page of the calendar says; one
// that is not good takes none away. It returns what of the page cannot be true.
func (f *follower) take(ctx context.Context, p calendarlink.Page, good bool) (doubts []string, err error) {
	if err := f.enter(ctx); err != nil {
		if removed(err) {
			err = errRelinked
		}
		return nil, err
	}
	defer f.turn.Unlock()
	if f.calendarURL() != f.feed.URL {
		return nil, errRelinked
	}
	o := f.layCalendar(p, f.book.o.Clock.Now())
	said := o.Placed
	if good {
		known := f.link.doubt.Held()
		switch doubt := f.link.doubt.Of(o, time.Now()); {
		case doubt == "":
			said = append(said, o.Missing...)
		case !known:
			f.book.o.Log.Warn("the external calendar is doubted", "meeting_space", f.Name(), "reason", doubt)
			fallthrough
		default:
			doubts = append(doubts, doubt)
		}
	}
	doubts = append(doubts, o.Problems...)
	edits := f.calendarEdits(o, said)
	if len(edits) == 0 {
		return doubts, nil
	}
	if err := f.commitParts(ctx, edits); err != nil {
		return doubts, err
	}
	o = f.layCalendar(p, f.book.o.Clock.Now()) // what was in the way of others may be gone
	return doubts, f.commitParts(ctx, f.calendarEdits(o, o.Placed))
}

// liveness puts bookings that are over before those that are to be.
func liveness(e edit) int {
	if e.Live() {
		return 1
	}
	return 0
}
