package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"roomgate/agent/booking"
	"roomgate/agent/calendar"
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

// almanac is what is known of a space's external calendar.
type almanac struct {
	relinked chan struct{} // holds a token when another URL was set
	last     atomic.Pointer[CalendarLink]
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
		url := s.calendarURL()
		if feed == nil || feed.URL != url {
			feed = &calendar.Feed{URL: url, Client: a.calendars, Zone: s.plan.terms.Load().rules.Zone, Interval: s.Space.Calendar.Interval}
		}
		wait := 24 * time.Hour
		if url != "" {
			err := a.readCalendar(ctx, s, feed)
			if err != nil && !failing && ctx.Err() == nil {
				a.log.Warn("the external calendar cannot be read, what was read before stays", "meeting_space", s.Name, "error", err)
			}
			failing, wait = err != nil, feed.Next()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.almanac.relinked:
		case <-time.After(wait):
		}
	}
}

// readCalendar reads the calendar once and lays it over the plan.
func (a *Agent) readCalendar(ctx context.Context, s *space, feed *calendar.Feed) error {
	now := a.Now()
	to := now.Add(s.plan.terms.Load().rules.Horizon)
	r, err := feed.Fetch(ctx, now, to)
	seen := CalendarLink{URL: feed.Redacted(), Problems: r.Problems}
	if err == nil {
		err = a.takeCalendar(ctx, s, r.Occurrences, to)
	}
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

// takeCalendar makes the space's calendar bookings what the calendar says up
// to a time: new ones are booked, moved ones moved, missing ones cancelled. A
// meeting that was ended, released or cancelled here stays so.
func (a *Agent) takeCalendar(ctx context.Context, s *space, occurrences []calendar.Occurrence, to time.Time) error {
	if err := s.plan.lock(ctx); err != nil {
		return err
	}
	defer s.plan.unlock()
	now := a.Now()
	var said []booking.Booking
	seen := map[string]bool{}
	for _, o := range occurrences {
		if !o.End.After(now) {
			continue
		}
		b, changed := s.occurrence(o, now)
		seen[b.ID] = true
		if changed {
			said = append(said, b)
		}
	}
	s.plan.bookings.Walk(func(b *booking.Booking) bool {
		if b.Source == booking.Calendar && b.State == booking.Booked && !seen[b.ID] && b.End.After(now) && b.Start.Before(to) {
			gone, _ := b.Cancel(now) // it is booked, so it can be
			gone.Reason = "removed from the calendar"
			said = append(said, gone)
		}
		return true
	})
	changed, _ := booking.Merge(s.plan.bookings.Get, s.plan.bookings.Live(), said)
	if len(changed) == 0 {
		return nil
	}
	return a.commit(ctx, s, s.plan.edits(changed, changed), nil)
}

// occurrence makes of one the booking that it shall be; changed is false if it
// is that already, or was settled here.
func (s *space) occurrence(o calendar.Occurrence, now time.Time) (b booking.Booking, changed bool) {
	id := calendarID(s.ID, o.ExternalID(), "")
	old, known := s.plan.bookings.Get(id)
	if known && !old.Live() && old.State != booking.Displaced && !sameTime(old, o) { // moved after it was settled
		id = calendarID(s.ID, o.ExternalID(), o.Start.String()+o.End.String())
		old, known = s.plan.bookings.Get(id)
	}
	if !known {
		b := booking.Booking{ID: id, SpaceID: s.ID, Source: booking.Calendar, ExternalID: o.ExternalID()}
		adopt(&b, o)
		return b, b.Complete(0, now) == nil
	}
	b = old
	adopt(&b, o)
	switch {
	case old.State == booking.CheckedIn:
		b.Start = old.Start // it has begun
	case old.State == booking.Displaced:
		b.State, b.Reason = booking.Booked, "" // the room may be free by now
		if s.plan.bookings.Free(b.Start, b.End, b.ID) != nil {
			return old, false
		}
	case !old.Live():
		return old, false
	}
	if b == old {
		return old, false
	}
	b.Revision++
	return b, b.Complete(0, now) == nil
}

// adopt lays what the calendar says over a booking.
func adopt(b *booking.Booking, o calendar.Occurrence) {
	b.Title, b.Private = clipped(o.Title, 500), o.Private
	b.Organizer = booking.Person{Name: clipped(o.Organizer.Name, 200), Email: o.Organizer.Email}
	b.Start, b.End = o.Start.UTC().Truncate(time.Millisecond), o.End.UTC().Truncate(time.Millisecond)
}

func sameTime(b booking.Booking, o calendar.Occurrence) bool {
	return b.Start.Equal(o.Start) && (b.End.Equal(o.End) || b.PlannedEnd.Equal(o.End))
}

// clipped cuts a text to so many bytes, between two characters.
func clipped(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// calendarID is the id of the booking that stands for an occurrence.
func calendarID(space, external, more string) string {
	sum := sha256.Sum256([]byte(space + "\n" + external + "\n" + more))
	return "c" + hex.EncodeToString(sum[:12])
}

// LinkCalendar makes a space follow an external calendar; an empty URL ends
// it. The bookings of the one before are taken back when the new one is read.
func (a *Agent) LinkCalendar(ctx context.Context, spaceID, url string) (CalendarLink, error) {
	s, err := a.space(spaceID)
	if err != nil {
		return CalendarLink{}, err
	}
	if url != "" {
		if err := calendar.CheckURL(url); err != nil {
			return CalendarLink{}, refuse(Invalid, "url", "cannot be followed: %v", err)
		}
	}
	if err := a.relink(ctx, s, url); err != nil {
		return CalendarLink{}, err
	}
	if url == "" {
		if err := a.takeCalendar(ctx, s, nil, a.Now().Add(100*365*24*time.Hour)); err != nil {
			return CalendarLink{}, err
		}
	}
	return a.CalendarLink(spaceID)
}

func (a *Agent) relink(ctx context.Context, s *space, url string) error {
	if err := s.plan.lock(ctx); err != nil {
		return err
	}
	defer s.plan.unlock()
	kept := s.plan.terms.Load().storedPlan
	kept.Calendar = &url
	if err := a.setTerms(ctx, s, kept); err != nil {
		return err
	}
	select {
	case s.almanac.relinked <- struct{}{}:
	default:
	}
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
