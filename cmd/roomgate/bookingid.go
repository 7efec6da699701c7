package main

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"roomgate/agent/booking"

	"roomgate/cmd/roomgate/show"
)

// The fewest characters that stand for an id, and the fewest that a list
// shows: what is unique today may not be tomorrow.
const (
	leastID = 4
	shownID = 6
)

// shortIDs are the ends of ids by which they can be told apart, by id.
func shortIDs(all []booking.Booking) map[string]string {
	short := map[string]string{}
	for _, b := range all {
		n := min(shownID, len(b.ID))
		for n < len(b.ID) && ambiguous(all, b.ID, b.ID[len(b.ID)-n:]) {
			n++
		}
		short[b.ID] = b.ID[len(b.ID)-n:]
	}
	return short
}

// ambiguous says whether another id ends like that.
func ambiguous(all []booking.Booking, id, end string) bool {
	for _, b := range all {
		if b.ID != id && endsIn(b.ID, end) {
			return true
		}
	}
	return false
}

func endsIn(id, end string) bool {
	return len(id) >= len(end) && strings.EqualFold(id[len(id)-len(end):], end)
}

// booking finds the booking that a word names, and the space that it is in.
func (c *client) booking(cmd *cobra.Command, word string) (bookingRecord, room, error) {
	spaces, err := c.spaces(cmd)
	if err != nil {
		return bookingRecord{}, room{}, err
	}
	for _, s := range spaces {
		if s.ID == word || strings.EqualFold(s.Name, word) {
			return c.bookingOf(cmd, s)
		}
	}
	b, err := c.bookingEndingIn(cmd, word)
	if err != nil {
		return b, room{}, err
	}
	for _, s := range spaces {
		if s.ID == b.SpaceID {
			r, err := c.stateOf(cmd, s)
			return b, r, err
		}
	}
	return b, room{}, fail(exitFailed, "the booking %s is of a meeting space that is not here any more", b.ID)
}

// bookingOf is the booking that is on in a space, or the next one.
func (c *client) bookingOf(cmd *cobra.Command, s space) (b bookingRecord, r room, err error) {
	if r, err = c.stateOf(cmd, s); err != nil {
		return b, r, err
	}
	m := r.State.Current
	arrived := m != nil && m.State == booking.CheckedIn && cmd.Name() == "check-in" // those who come after them check in
	if m == nil || arrived && r.State.Next != nil {
		m = r.State.Next
	}
	if m == nil {
		return b, r, fail(exitRefused, "%s has no booking now and none ahead: see roomgate booking list %s", s.Name, strings.ToLower(s.Name))
	}
	b, err = c.bookingByID(cmd, m.ID)
	return b, r, err
}

func (c *client) bookingByID(cmd *cobra.Command, id string) (b bookingRecord, err error) {
	err = c.call(cmd.Context(), http.MethodGet, bookingPath(id), nil, &b)
	return b, err
}

func bookingPath(id string) string { return "/bookings/" + url.PathEscape(id) }

// bookingEndingIn finds a booking by its id or the end of it. Those of before
// yesterday go by the whole id only.
func (c *client) bookingEndingIn(cmd *cobra.Command, word string) (bookingRecord, error) {
	if len(word) < leastID {
		return bookingRecord{}, fail(exitUsage, "%q is no meeting space, and too short for a booking: give at least %d characters of its id", word, leastID)
	}
	all, err := c.bookings(cmd, "", time.Time{}, time.Time{})
	if err != nil {
		return bookingRecord{}, err
	}
	var found []bookingRecord
	for _, b := range all {
		if b.ID == word {
			return b, nil
		}
		if endsIn(b.ID, word) {
			found = append(found, b)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		if b, err := c.bookingByID(cmd, word); err == nil {
			return b, nil
		}
		return bookingRecord{}, fail(exitRefused, "%q is no meeting space, and no booking ends in it: see roomgate booking list", word)
	}
	ids := make([]string, len(found))
	for i, b := range found {
		ids[i] = b.ID
	}
	return bookingRecord{}, fail(exitRefused, "%s end in %q: %s: give more of the id", show.Count(len(found), "booking"), word, strings.Join(ids, ", "))
}
