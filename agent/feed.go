package agent

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"strings"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/calendar"
)

// NewFeed gives a space a calendar feed of its own, for phones and calendar
// programs. The token goes into the feed's URL and is shown only now; an older
// one is worth nothing any more.
func (a *Agent) NewFeed(ctx context.Context, spaceID string) (token string, err error) {
	token = strings.ToLower(rand.Text()) // 130 random bits
	sum := sha256.Sum256([]byte(token))
	return token, a.setFeed(ctx, spaceID, sum[:])
}

// RevokeFeed ends the space's calendar feed.
func (a *Agent) RevokeFeed(ctx context.Context, spaceID string) error {
	return a.setFeed(ctx, spaceID, nil)
}

func (a *Agent) setFeed(ctx context.Context, spaceID string, hash []byte) error {
	s, err := a.space(spaceID)
	if err != nil {
		return err
	}
	if err := s.plan.turn.Lock(ctx); err != nil {
		return err
	}
	defer s.plan.turn.Unlock()
	kept := s.plan.terms.Load().storedPlan
	kept.FeedHash = hash
	return a.setTerms(ctx, s, kept)
}

// Feed is the calendar of a space as iCalendar, for who has its token. Whoever
// has not learns nothing, not even whether there is such a space.
func (a *Agent) Feed(spaceID, token string) ([]byte, error) {
	sum := sha256.Sum256([]byte(token))
	s := a.find(spaceID)
	if s == nil || subtle.ConstantTimeCompare(sum[:], s.plan.terms.Load().FeedHash) != 1 {
		return nil, refuse(NotFound, "token", "is not that of a calendar feed: it is wrong or was revoked")
	}
	now := a.Now()
	var entries []calendar.Entry
	for _, b := range s.plan.bookings.All(now.Add(-keepPast), now.Add(s.plan.terms.Load().rules.Horizon)) {
		e := s.entry(b)
		if err := e.Check(); err != nil { // one bad entry never spoils a feed
			a.log.Warn("a booking is left out of the room's calendar feed", "meeting_space", s.Name, "booking", b.ID, "error", err)
			continue
		}
		entries = append(entries, e)
	}
	var out bytes.Buffer
	err := calendar.Write(&out, s.Name, entries)
	return out.Bytes(), err
}

// entry is a booking as the feed tells it: no more than the door does.
func (s *space) entry(b booking.Booking) calendar.Entry {
	e := calendar.Entry{UID: b.ID + "@roomgate", Sequence: int64(b.Revision), Start: b.Start, End: b.End,
		Title: "Booked", Status: "CONFIRMED", Updated: b.UpdatedAt}
	m := s.meeting(&b, time.Time{})
	switch {
	case m.Title != "":
		e.Title = m.Title
	case m.Organizer != "":
		e.Title = "Booked: " + m.Organizer
	case b.Private:
		e.Title = "Private meeting"
	}
	unused := b.State == booking.Ended && !b.EndedAt.IsZero() && !b.EndedAt.After(b.Start) // it gave all of its time back
	if !b.Live() && b.State != booking.Ended || unused {
		e.Status = "CANCELLED"
	}
	if start := e.Start.Truncate(time.Second); e.End.Before(start.Add(time.Second)) {
		e.End = start.Add(time.Second) // a feed counts in seconds
	}
	return e
}
