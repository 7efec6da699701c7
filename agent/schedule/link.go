package schedule

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/calendar"
	"roomgate/agent/calendarlink"
	"roomgate/agent/loop"
)

// Link is how a space stands with its external calendar.
type Link struct {
	URL       string   `json:"url"`        // as it may be shown; empty: none
	FetchedAt *string  `json:"fetched_at"` // the last time that it could be read
	Error     string   `json:"error,omitempty"`
	Problems  []string `json:"problems"` // what in it could not be understood
	Bookings  int      `json:"bookings"` // of it that are ahead
	Feed      bool     `json:"feed"`     // the space has a feed of its own
}

// calendarLink is what is known of a space's external calendar.
type calendarLink struct {
	relinked    loop.Signal // holds a token when another URL was set
	roomChanged loop.Signal // holds one when the room has changed
	last        atomic.Pointer[Link]
	doubt       calendarlink.Doubt // belongs to who has the turn of the room
}

// calendarURL is the one that was set, or else the one of the configuration.
func (r *Room) calendarURL() string {
	if set := r.terms.Load().calendar; set != nil {
		return *set
	}
	return r.config.Load().Calendar.URL
}

// layCalendar finds out what a page changes. The caller has the turn.
func (r *Room) layCalendar(p calendarlink.Page, now time.Time) calendarlink.Outcome {
	return calendarlink.Room{ID: r.ID, Bookings: r.bookings, Marks: r.marks}.Lay(p, now)
}

// calendarEdits are what has to be stored for bookings that the calendar wants
// like that. One that the cloud has moved to another space stays there.
func (r *Room) calendarEdits(o calendarlink.Outcome, said []booking.Booking) []edit {
	said = slices.DeleteFunc(said, func(b booking.Booking) bool {
		_, other := r.book.elsewhere(r, b.ID)
		return other != nil
	})
	changed, _ := booking.Merge(r.bookings.Get, r.bookings.Live(), said)
	edits := r.edits(changed, changed)
	for i := range edits {
		e := &edits[i]
		if was, _ := r.bookings.Get(e.ID); e.Live() && !was.Live() {
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
func (bk *Book) LinkCalendar(ctx context.Context, spaceID, url string) (Link, error) {
	r, err := bk.room(spaceID)
	if err != nil {
		return Link{}, err
	}
	if url != "" {
		if err := bk.calendars.check(url); err != nil {
			return Link{}, err
		}
	}
	if err := bk.relink(ctx, r, url); err != nil {
		return Link{}, err
	}
	return bk.CalendarLink(spaceID)
}

func (bk *Book) relink(ctx context.Context, r *Room, url string) error {
	if err := r.enter(ctx); err != nil {
		return err
	}
	defer r.turn.Unlock()
	if url != r.calendarURL() {
		r.link.doubt = calendarlink.Doubt{Relinked: true}
	}
	var edits []edit
	if url == "" {
		now := bk.o.Clock.Now()
		o := r.layCalendar(calendarlink.Page{To: now.AddDate(100, 0, 0)}, now)
		edits = r.calendarEdits(o, o.Missing)
	}
	kept := r.terms.Load().link(bk.o.Keys, r.ID, url)
	kept.UpdatedAt = bk.o.Clock.Now().UTC().Truncate(time.Millisecond)
	if err := r.commit(ctx, edits, r.stageTerms(kept)); err != nil {
		return err
	}
	r.link.relinked.Wake()
	return nil
}

// CalendarLink says how a space stands with its external calendar.
func (bk *Book) CalendarLink(spaceID string) (Link, error) {
	r, err := bk.room(spaceID)
	if err != nil {
		return Link{}, err
	}
	url, t := r.calendarURL(), r.terms.Load()
	link := Link{Problems: []string{}, Feed: len(t.FeedHash) > 0}
	if t.lost {
		link.Error = lostLink
	}
	if url != "" {
		link.URL = calendar.Redacted(url)
		if last := r.link.last.Load(); last != nil && last.URL == link.URL {
			link.FetchedAt, link.Error = last.FetchedAt, last.Error
			link.Problems = append(link.Problems, last.Problems...)
		}
	}
	now := bk.o.Clock.Now()
	r.bookings.Walk(func(b *booking.Booking) bool {
		if b.Source == booking.Calendar && b.End.After(now) {
			link.Bookings++
		}
		return true
	})
	return link, nil
}
