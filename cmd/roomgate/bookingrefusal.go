package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"roomgate/agent/booking"
)

// refused is a change that the gateway did not make, and why.
type refused struct {
	err      error // as any command says it
	Field    string
	Detail   string
	Conflict *booking.Interval // the time in the way; its end is zero if that is not known
}

func (r *refused) Error() string { return r.err.Error() }
func (r *refused) Unwrap() error { return r.err }

// wish is what was asked for.
type wish struct {
	booking    *booking.Booking // that is to be changed; nil: a new one
	start, end *time.Time
	dated      bool // the day was said
	extends    bool
}

// book asks for a change of a booking. Its refusal is a *refused.
func (c *client) book(cmd *cobra.Command, method, path string, in, out any) error {
	answer, raw, err := c.ask(cmd.Context(), method, path, in)
	if err != nil {
		return err
	}
	err = c.decode(answer, raw, out)
	if err == nil || answer.StatusCode < 400 || answer.StatusCode >= 500 || answer.StatusCode == http.StatusUnauthorized {
		return err
	}
	r := &refused{err: err}
	_ = json.Unmarshal(raw, r) // what is not JSON has no detail
	return r
}

// explain says a refusal in the room's own time, and what to do.
func (c *client) explain(cmd *cobra.Command, r room, w wish, err error) error {
	var no *refused
	if !errors.As(err, &no) {
		return err
	}
	if no.Conflict != nil {
		return fail(exitRefused, "%s", c.conflict(cmd, r, w, *no.Conflict))
	}
	message := r.clock.local(cmp.Or(no.Detail, no.Error()))
	past := w.start != nil && w.start.Before(r.clock.now) && no.Field == "start_time"
	backwards := w.start != nil && w.end != nil && !w.end.After(*w.start)
	switch {
	case past && !w.dated:
		message += ": it is " + r.clock.clock(r.clock.now) + " there, for another day give --day"
	case backwards && no.Field == "end_time":
		message += ": over midnight give a length, as 2h"
	}
	return fail(exitRefused, "%s", message)
}

// stamps are times as the gateway writes them in messages.
var stamps = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z`)

// local writes the times in a message as the room's clock shows them.
func (c roomClock) local(message string) string {
	return stamps.ReplaceAllStringFunc(message, func(s string) string {
		t, err := c.at(s, c.today())
		if err != nil {
			return s
		}
		return c.say(t, c.today())
	})
}

// conflict says from when to when the room is taken, and what is free instead.
func (c *client) conflict(cmd *cobra.Command, r room, w wish, busy booking.Interval) string {
	about := r.clock.today()
	if busy.End.IsZero() {
		return fmt.Sprintf("%s is taken from %s on: choose another room", r.Name, r.clock.say(busy.Start, about))
	}
	message := fmt.Sprintf("%s is taken from %s", r.Name, r.clock.fromTo(busy.Start, busy.End, about))
	start, end := w.times(r.clock.now)
	if w.extends {
		if busy.Start.After(w.booking.End) {
			return message + fmt.Sprintf(": this one can end at %s at the latest", r.clock.say(busy.Start, about))
		}
		start = w.booking.End
	}
	// The rest of the day tells what to do; without it the answer still stands.
	day := dateOf(start, r.clock.zone)
	all, err := c.bookings(cmd, "", earliest(start, day.begins(r.clock.zone)), latest(end, day.ends(r.clock.zone)))
	if err != nil {
		return message
	}
	var ways []string
	if from, ok := c.freeFrom(cmd, all, r, w.id(), busy.End, end.Sub(start)); ok && !w.extends {
		ways = append(ways, r.clock.fromTo(from, from.Add(end.Sub(start)), about))
	}
	if others := c.freeThen(cmd, all, r.ID, start, end); len(others) > 0 {
		ways = append(ways, strings.Join(others, " or ")+" from "+r.clock.fromTo(start, end, about))
	}
	if len(ways) == 0 {
		return message + ": see booking list"
	}
	return message + ": take " + strings.Join(ways, ", or ")
}

// fromTo is an interval in a sentence.
func (c roomClock) fromTo(start, end time.Time, about date) string {
	return c.say(start, about) + " to " + c.say(end, dateOf(start, c.zone))
}

// id is that of the booking that is to be changed.
func (w wish) id() string {
	if w.booking == nil {
		return ""
	}
	return w.booking.ID
}

// times are what is wanted, as far as it was said; a walk-up begins now.
func (w wish) times(now time.Time) (start, end time.Time) {
	start = now
	if w.booking != nil {
		start, end = w.booking.Start, w.booking.End
	}
	if w.start != nil {
		start = *w.start
	}
	if w.end != nil {
		end = *w.end
	}
	if !end.After(start) {
		end = start.Add(2 * quarter)
	}
	return start, end
}

// freeFrom is the first moment from t on, by the space's grid, at which it is
// free for a length before the day ends.
func (c *client) freeFrom(cmd *cobra.Command, all []bookingRecord, r room, except string, t time.Time, length time.Duration) (time.Time, bool) {
	grid, err := c.grid(cmd, r.ID)
	if err != nil {
		return t, false
	}
	ends := dateOf(t.Add(-1), r.clock.zone).ends(r.clock.zone)
	t = r.clock.onGrid(t, grid)
	slices.SortStableFunc(all, func(a, b bookingRecord) int { return a.Start.Compare(b.Start) })
	for _, b := range all {
		if b.SpaceID == r.ID && b.ID != except && b.Live() && b.Overlaps(t, t.Add(length)) {
			t = r.clock.onGrid(b.End, grid)
		}
	}
	return t, !t.Add(length).After(ends)
}

// onGrid is the next moment from t on at which the local clock is on the grid.
func (c roomClock) onGrid(t time.Time, grid time.Duration) time.Time {
	local := t.In(c.zone)
	past := time.Duration(local.Hour())*time.Hour + pastHour(t, c.zone)
	if grid <= 0 || past%grid == 0 {
		return t
	}
	return t.Add(grid - past%grid)
}

// freeThen are the names of other spaces in which nothing stands at that time.
// One that is out of use is not offered.
func (c *client) freeThen(cmd *cobra.Command, all []bookingRecord, except string, start, end time.Time) (names []string) {
	spaces, err := c.spaces(cmd)
	if err != nil {
		return nil
	}
	for _, s := range spaces {
		taken := slices.ContainsFunc(all, func(b bookingRecord) bool { return b.SpaceID == s.ID && b.Live() && b.Overlaps(start, end) })
		if taken || s.ID == except || len(names) == 3 {
			continue
		}
		if r, err := c.stateOf(cmd, s); err == nil && r.State.Status != booking.Disabled {
			names = append(names, s.Name)
		}
	}
	return names
}
