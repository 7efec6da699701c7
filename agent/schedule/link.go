package schedule

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/calendar"
	"roomgate/agent/calendarlink"
	"roomgate/agent/loop"
	"roomgate/agent/printable"
	"roomgate/agent/problem"
)

// Link is how a space stands with its external calendar.
type Link struct {
	URL       string   `json:"url"` // as it may be shown; empty: none
	External  string   `json:"external_cal_id"`
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

// calendarURL is the URL that was set at run time, else that of the configuration.
func (r *Room) calendarURL() string {
	if set := r.terms.Load().calendar; set != nil {
		return *set
	}
	return r.config.Load().Calendar.URL
}

// ExternalCalendar is what the calendar of the room is called elsewhere: as it was
// linked, else as configured.
func (r *Room) ExternalCalendar() string {
	return cmp.Or(r.terms.Load().External, r.config.Load().ExternalCalendarID)
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
	changed, _ := booking.Merge(r.bookings.Get, r.bookings.Walk, said)
	edits := r.edits(changed, changed, strings.HasPrefix(strings.ToLower(r.calendarURL()), "http://"))
	for i := range edits {
		e := &edits[i]
		if was, _ := r.bookings.Get(e.ID); e.Live() && !was.Live() {
			e.marks = booking.Marks{Returned: e.CloudRevision != 0} // it begins once more
		}
		if at, ok := o.Said[e.ID]; ok {
			e.marks.Calendar = at
		}
	}
	return append(edits, r.notes(o, edits)...)
}

// notes are what has to be stored of what the calendar says by now of bookings
// that it does not change: people had moved them there before, or are in the
// room. Once such a meeting is settled, what the calendar said then is no news.
func (r *Room) notes(o calendarlink.Outcome, others []edit) (edits []edit) {
	changed := map[string]bool{}
	for _, e := range others {
		changed[e.ID] = true
	}
	r.bookings.Walk(func(b *booking.Booking) bool {
		at, said := o.Said[b.ID]
		marks := r.marks[b.ID]
		was := cmp.Or(marks.Calendar, booking.Interval{Start: b.Start, End: b.End})
		if said && !changed[b.ID] && was != at {
			marks.Calendar = at
			edits = append(edits, edit{Booking: *b, marks: marks, known: true})
		}
		return true
	})
	return edits
}

// maxExternal bounds what a calendar is called elsewhere, in bytes.
const maxExternal = 200

// LinkCalendar makes a space follow an external calendar; an empty URL ends
// that and takes its bookings back. Those of the one before are taken back when
// another one is read. external is its name elsewhere, which the space shows while
// the link holds; empty: what the configuration says.
func (bk *Book) LinkCalendar(ctx context.Context, spaceID, url, external string) (Link, error) {
	r, err := bk.room(spaceID)
	if err != nil {
		return Link{}, err
	}
	if url != "" {
		if err := bk.calendars.check(url); err != nil {
			return Link{}, err
		}
	}
	if len(external) > maxExternal || !printable.Line(external) {
		return Link{}, problem.New(problem.Invalid, "external_cal_id", "is out of range: want at most %d bytes of text", maxExternal)
	}
	if err := bk.relink(ctx, r, url, external); err != nil {
		return Link{}, err
	}
	return bk.CalendarLink(spaceID)
}

func (bk *Book) relink(ctx context.Context, r *Room, url, external string) error {
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
	kept.External = external
	kept.UpdatedAt = bk.o.Clock.Now().UTC().Truncate(time.Millisecond)
	// The link goes with the last: until then the calendar is followed, and what
	// has left it comes back after a power cut.
	defer r.link.relinked.Wake() // also after half of it
	return r.commitParts(ctx, edits, r.stageTerms(ctx, kept))
}

// CalendarLink says how a space stands with its external calendar.
func (bk *Book) CalendarLink(spaceID string) (Link, error) {
	r, err := bk.room(spaceID)
	if err != nil {
		return Link{}, err
	}
	url, t := r.calendarURL(), r.terms.Load()
	link := Link{External: r.ExternalCalendar(), Problems: []string{}, Feed: len(t.FeedHash) > 0}
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
