package agent

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"roomgate/agent/almanac"
	"roomgate/agent/booking"
	"roomgate/agent/calendar"
	"roomgate/agent/loop"
	"roomgate/agent/outgoing"
	"roomgate/store"
)

// CalendarLink is how a space stands with its external calendar.
type CalendarLink struct {
	URL       string   `json:"url"`        // as it may be shown; empty: none
	FetchedAt *string  `json:"fetched_at"` // the last time that it could be read
	Error     string   `json:"error,omitempty"`
	Problems  []string `json:"problems"` // what in it could not be understood
	Bookings  int      `json:"bookings"` // of it that are ahead
	Feed      bool     `json:"feed"`     // the space has a feed of its own
}

// following is what is known of a space's external calendar.
type following struct {
	relinked loop.Signal // holds a token when another URL was set
	stirred  loop.Signal // holds one when the plan has changed
	last     atomic.Pointer[CalendarLink]
	doubt    almanac.Doubt // belongs to who has the turn of the plan
}

// calendarURL is the one that was set, or else the one of the configuration.
func (s *space) calendarURL() string {
	if set := s.plan.terms.Load().Calendar; set != nil {
		return *set
	}
	return s.Space.Calendar.URL
}

// followCalendar reads the external calendar of a space again and again. What
// it cannot read changes nothing.
func (a *Agent) followCalendar(ctx context.Context, s *space) error {
	var feed *calendar.Feed
	failing := false
	for {
		url, client := s.calendarURL(), a.calendars.of(s)
		if feed == nil || feed.URL != url || feed.Client != client {
			feed = &calendar.Feed{URL: url, Client: client, Zone: s.plan.terms.Load().rules.Zone, Interval: s.Space.Calendar.Interval}
		}
		wait := 24 * time.Hour
		if url != "" {
			err := a.readCalendar(ctx, s, feed)
			if err != nil && !failing && ctx.Err() == nil {
				a.log.Warn("the external calendar cannot be read, what was read before stays", "meeting_space", s.Name, "error", err, "reason", outgoing.Reason(err))
			}
			failing, wait = err != nil, feed.Next()
		}
		if !a.awaitCalendar(ctx, s, feed, wait) {
			client.CloseIdleConnections()
			return nil
		}
	}
}

// awaitCalendar waits until the calendar is to be read again; false: ctx has
// ended. Meanwhile, when the room may be free for a meeting that was displaced,
// what was read last is laid over the plan again.
func (a *Agent) awaitCalendar(ctx context.Context, s *space, feed *calendar.Feed, wait time.Duration) bool {
	due := time.NewTimer(wait)
	defer due.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-s.almanac.relinked:
			return true
		case <-due.C:
			return true
		case <-s.almanac.stirred:
		}
		now := a.Now()
		if feed.URL == "" || !s.displaced(now) {
			continue
		}
		to := now.Add(s.plan.terms.Load().rules.Horizon)
		if r, err := feed.Expand(now, to); err == nil {
			_, err = a.takeCalendar(ctx, s, feed.URL, almanac.Page{Result: r, To: to}, false)
			if err != nil && !errors.Is(err, errRelinked) && ctx.Err() == nil {
				a.log.Error("a meeting of the external calendar cannot be stored", "meeting_space", s.Name, "error", err)
			}
		}
	}
}

// displaced says that a meeting of the calendar waits for a time that is free.
func (s *space) displaced(now time.Time) bool {
	return slices.ContainsFunc(s.plan.bookings.All(now, time.Time{}), func(b booking.Booking) bool {
		return b.Source == booking.Calendar && b.State == booking.Displaced && s.plan.bookings.Free(b.Start, b.End, b.ID) == nil
	})
}

// readCalendar reads the calendar once and lays it over the plan. While it
// cannot be read, what was read last is laid there again: the days go on, and a
// room that was taken may be free by now.
func (a *Agent) readCalendar(ctx context.Context, s *space, feed *calendar.Feed) error {
	if err := a.calendars.turn.Lock(ctx); err != nil {
		return err
	}
	defer a.calendars.turn.Unlock()
	now := a.Now()
	to := now.Add(s.plan.terms.Load().rules.Horizon)
	r, err := feed.Fetch(ctx, now, to)
	good := err == nil
	if !good {
		r, _ = feed.Expand(now, to) // empty if there is none
	}
	doubts, failed := a.takeCalendar(ctx, s, feed.URL, almanac.Page{Result: r, To: to}, good)
	if errors.Is(failed, errRelinked) {
		return nil
	}
	err = cmp.Or(err, failed)
	seen := CalendarLink{URL: feed.Redacted(), Problems: append(doubts, r.Problems...)}
	if err != nil {
		if old := s.almanac.last.Load(); old != nil && old.URL == seen.URL {
			seen.FetchedAt, seen.Problems = old.FetchedAt, old.Problems
		}
		seen.Error = err.Error()
	} else {
		seen.FetchedAt = stampOrNil(now)
	}
	s.almanac.last.Store(&seen)
	return err
}

// errRelinked says that the space follows another calendar by now.
var errRelinked = errors.New("the space follows another calendar")

// takeCalendar makes the space's calendar bookings what a page of the calendar
// says; one that is not good takes none away. It returns what of the page cannot
// be true.
func (a *Agent) takeCalendar(ctx context.Context, s *space, url string, p almanac.Page, good bool) (doubts []string, err error) {
	if err := s.plan.turn.Lock(ctx); err != nil {
		return nil, err
	}
	defer s.plan.turn.Unlock()
	if s.calendarURL() != url {
		return nil, errRelinked
	}
	o := s.layCalendar(p, a.Now())
	said := o.Placed
	if good {
		known := s.almanac.doubt.Held()
		switch doubt := s.almanac.doubt.Of(o, time.Now()); {
		case doubt == "":
			said = append(said, o.Missing...)
		case !known:
			a.log.Warn("the external calendar is doubted", "meeting_space", s.Name, "reason", doubt)
			fallthrough
		default:
			doubts = append(doubts, doubt)
		}
	}
	doubts = append(doubts, o.Problems...)
	edits := s.calendarEdits(a, o, said)
	if len(edits) == 0 {
		return doubts, nil
	}
	if err := a.commitParts(ctx, s, edits); err != nil {
		return doubts, err
	}
	o = s.layCalendar(p, a.Now()) // what was in the way of others may be gone
	return doubts, a.commitParts(ctx, s, s.calendarEdits(a, o, o.Placed))
}

// maxTaken is how many bookings of a calendar are stored at once: a transaction
// is in memory until it is on disk.
const maxTaken = 500

// commitParts stores any number of edits. What makes room comes first.
func (a *Agent) commitParts(ctx context.Context, s *space, edits []edit) error {
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(liveness(a), liveness(b)) })
	for part := range slices.Chunk(edits, maxTaken) {
		if err := a.commit(ctx, s, part, nil); err != nil {
			return err
		}
	}
	return nil
}

// liveness puts bookings that are over before those that are to be.
func liveness(e edit) int {
	if e.Live() {
		return 1
	}
	return 0
}

// layCalendar finds out what a page changes. The caller has the turn.
func (s *space) layCalendar(p almanac.Page, now time.Time) almanac.Outcome {
	return almanac.Room{ID: s.ID, Bookings: s.plan.bookings, Marks: s.plan.marks}.Lay(p, now)
}

// calendarEdits are what has to be stored for bookings that the calendar wants
// like that. One that the cloud has moved to another space stays there.
func (s *space) calendarEdits(a *Agent, o almanac.Outcome, said []booking.Booking) []edit {
	said = slices.DeleteFunc(said, func(b booking.Booking) bool {
		_, other := a.elsewhere(s, b.ID)
		return other != nil
	})
	changed, _ := booking.Merge(s.plan.bookings.Get, s.plan.bookings.Live(), said)
	edits := s.plan.edits(changed, changed)
	for i := range edits {
		e := &edits[i]
		if was, _ := s.plan.bookings.Get(e.ID); e.Live() && !was.Live() {
			e.marks = booking.Marks{Returned: e.CloudRevision != 0} // it begins once more
		}
		if at, ok := o.Said[e.ID]; ok {
			e.marks.Calendar = at
		}
	}
	return edits
}

// LinkCalendar makes a space follow an external calendar; an empty URL ends
// that and takes its bookings back. Those of the one before are taken back when
// another one is read.
func (a *Agent) LinkCalendar(ctx context.Context, spaceID, url string) (CalendarLink, error) {
	s, err := a.space(spaceID)
	if err != nil {
		return CalendarLink{}, err
	}
	if url != "" {
		if err := a.calendars.check(url); err != nil {
			return CalendarLink{}, err
		}
	}
	if err := a.relink(ctx, s, url); err != nil {
		return CalendarLink{}, err
	}
	return a.CalendarLink(spaceID)
}

func (a *Agent) relink(ctx context.Context, s *space, url string) error {
	if err := s.plan.turn.Lock(ctx); err != nil {
		return err
	}
	defer s.plan.turn.Unlock()
	if url != s.calendarURL() {
		s.almanac.doubt = almanac.Doubt{Relinked: true}
	}
	var edits []edit
	if url == "" {
		now := a.Now()
		o := s.layCalendar(almanac.Page{To: now.AddDate(100, 0, 0)}, now)
		edits = s.calendarEdits(a, o, o.Missing)
	}
	kept := s.plan.terms.Load().storedPlan
	kept.Calendar, kept.UpdatedAt = &url, a.Now().UTC().Truncate(time.Millisecond)
	if err := a.commit(ctx, s, edits, func(tx *store.Tx) error { return plans.Put(tx, s.ID, kept) }); err != nil {
		return err
	}
	s.plan.keep(kept)
	s.almanac.relinked.Wake()
	return nil
}

// CalendarLink says how a space stands with its external calendar.
func (a *Agent) CalendarLink(spaceID string) (CalendarLink, error) {
	s, err := a.space(spaceID)
	if err != nil {
		return CalendarLink{}, err
	}
	url := s.calendarURL()
	link := CalendarLink{Problems: []string{}, Feed: len(s.plan.terms.Load().FeedHash) > 0}
	if url != "" {
		link.URL = calendar.Redacted(url)
		if last := s.almanac.last.Load(); last != nil && last.URL == link.URL {
			link.FetchedAt, link.Error = last.FetchedAt, last.Error
			link.Problems = append(link.Problems, last.Problems...)
		}
	}
	now := a.Now()
	s.plan.bookings.Walk(func(b *booking.Booking) bool {
		if b.Source == booking.Calendar && b.End.After(now) {
			link.Bookings++
		}
		return true
	})
	return link, nil
}
