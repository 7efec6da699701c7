package schedule

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
	"roomgate/agent/problem"
)

// NewFeed gives a space a calendar feed of its own, for phones and calendar
// programs. The token goes into the feed's URL and is shown only now; an older
// one is worth nothing any more.
func (bk *Book) NewFeed(ctx context.Context, spaceID string) (token string, err error) {
	token = strings.ToLower(rand.Text()) // 130 random bits
	sum := sha256.Sum256([]byte(token))
	return token, bk.setFeed(ctx, spaceID, sum[:])
}

// RevokeFeed ends the space's calendar feed.
func (bk *Book) RevokeFeed(ctx context.Context, spaceID string) error {
	return bk.setFeed(ctx, spaceID, nil)
}

func (bk *Book) setFeed(ctx context.Context, spaceID string, hash []byte) error {
	r, err := bk.room(spaceID)
	if err != nil {
		return err
	}
	if err := r.enter(ctx); err != nil {
		return err
	}
	defer r.turn.Unlock()
	kept := r.terms.Load().storedPlan
	kept.FeedHash = hash
	return r.setTerms(ctx, kept)
}

// Feed is the calendar of a space as iCalendar, for a client with its token. Without
// the token a client learns nothing, not even whether the space exists.
func (bk *Book) Feed(spaceID, token string) ([]byte, error) {
	sum := sha256.Sum256([]byte(token))
	r := bk.Room(spaceID)
	if r == nil || subtle.ConstantTimeCompare(sum[:], r.terms.Load().FeedHash) != 1 {
		return nil, problem.New(problem.NotFound, "token", "is not that of a calendar feed: it is wrong or was revoked")
	}
	now := bk.o.Clock.Now()
	var entries []calendar.Entry
	for _, b := range r.bookings.All(now.Add(-keepPast), now.Add(r.terms.Load().rules.Horizon)) {
		e := r.entry(b)
		if err := e.Check(); err != nil { // one bad entry never spoils a feed
			bk.o.Log.Warn("a booking is left out of the room's calendar feed", "meeting_space", r.Name(), "booking", b.ID, "error", err)
			continue
		}
		entries = append(entries, e)
	}
	var out bytes.Buffer
	err := calendar.Write(&out, r.Name(), entries)
	return out.Bytes(), err
}

// entry is a booking as the feed tells it: no more than the door does.
func (r *Room) entry(b booking.Booking) calendar.Entry {
	e := calendar.Entry{UID: b.ID + "@roomgate", Sequence: int64(b.Revision), Start: b.Start, End: b.End,
		Title: "Booked", Status: "CONFIRMED", Updated: b.UpdatedAt}
	m := r.meeting(&b, time.Time{})
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
