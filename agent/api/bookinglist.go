package api

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/problem"
)

// bookingQuery is what may be asked of the bookings.
var bookingQuery = []string{"meeting_space_id", "from", "to", "state", "limit", "cursor"}

// recentBookings is how far back a list goes that names no times.
const recentBookings = 24 * time.Hour

// bookingStates are the states that a booking may have.
var bookingStates = []booking.State{booking.Booked, booking.CheckedIn, booking.Ended, booking.Cancelled, booking.Released, booking.Displaced}

// place is that of a booking in a list: they are sorted by start, then id.
type place struct {
	start time.Time
	id    string
}

func placeOf(b booking.Booking) place { return place{b.Start, b.ID} }

func (p place) compare(q place) int { return cmp.Or(p.start.Compare(q.start), cmp.Compare(p.id, q.id)) }

// String is the place as a cursor.
func (p place) String() string { return strconv.FormatInt(p.start.UnixNano(), 36) + "." + p.id }

func parsePlace(cursor string) (place, error) {
	start, id, ok := strings.Cut(cursor, ".")
	at, err := strconv.ParseInt(start, 36, 64)
	if !ok || err != nil {
		return place{}, invalid("cursor", "is not a cursor: send next_cursor of an earlier answer")
	}
	return place{time.Unix(0, at).UTC(), id}, nil
}

// bookingFilter is what of the bookings is asked for.
type bookingFilter struct {
	space    string
	from, to time.Time
	state    booking.State // empty: any
	after    place         // zero: from the first one
	limit    int
	v2       bool // as that version has them
}

// listBookings answers with the bookings that share a moment with a time.
func listBookings(s *Server, c *call) error {
	q, err := c.query(bookingQuery...)
	if err != nil {
		return err
	}
	f, err := newBookingFilter(q, s.agent.Now())
	if err != nil {
		return err
	}
	if err := s.visibility.ownSpace(&c.who, f.space); f.space != "" && err != nil {
		return err
	}
	all, err := s.agent.Bookings.List(f.space, f.from, f.to)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(b booking.Booking) bool { return !s.visibility.sees(&c.who, b.SpaceID) })
	for i := range all {
		all[i] = seenBy(&c.who.Principal, all[i])
	}
	f.v2 = c.v2
	found, next := f.page(all)
	if c.v2 {
		return c.json(http.StatusOK, page[bookingRecord]{found, maybe(next)})
	}
	return c.json(http.StatusOK, struct {
		Bookings []bookingRecord `json:"bookings"`
		Next     string          `json:"next_cursor,omitempty"` // absent: that was the last page
	}{found, next})
}

func newBookingFilter(q query, now time.Time) (f bookingFilter, err error) {
	f.space, f.state = q.text("meeting_space_id"), booking.State(q.text("state"))
	if f.state != "" && !slices.Contains(bookingStates, f.state) {
		return f, invalid("state", "is not known: want booked, checked_in, ended, cancelled, released or displaced")
	}
	if f.from, err = q.time("from"); err != nil {
		return f, err
	}
	if f.to, err = q.time("to"); err != nil {
		return f, err
	}
	if f.from.IsZero() && f.to.IsZero() {
		f.from = now.Add(-recentBookings)
	}
	if !f.to.IsZero() && !f.to.After(f.from) {
		return f, problem.New(problem.Invalid, "to", "is not after %v", problem.FieldName("from"))
	}
	limit, err := q.number("limit", 1, maxLimit, defaultLimit)
	f.limit = int(limit)
	if cursor := q.text("cursor"); err == nil && cursor != "" {
		f.after, err = parsePlace(cursor)
		if f.after.start.After(f.from) { // those before it would be passed over anyway
			f.from = f.after.start
		}
	}
	return f, err
}

// page picks the next bookings, and the cursor for those after them.
func (f bookingFilter) page(all []booking.Booking) (page []bookingRecord, next string) {
	all = slices.DeleteFunc(all, func(b booking.Booking) bool {
		return f.state != "" && b.State != f.state || f.after.id != "" && placeOf(b).compare(f.after) <= 0
	})
	slices.SortFunc(all, func(a, b booking.Booking) int { return placeOf(a).compare(placeOf(b)) })
	if len(all) > f.limit {
		all = all[:f.limit]
		next = placeOf(all[f.limit-1]).String()
	}
	return records(all, func(b booking.Booking) bookingRecord { return newBookingRecord(b, f.v2) }), next
}
