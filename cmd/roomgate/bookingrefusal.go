package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"roomgate/agent/booking"

	"roomgate/cmd/roomgate/show"
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

// intent is what was asked for.
type intent struct {
	booking    *booking.Booking // the one to change; nil: a new one
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
func (c *client) explain(cmd *cobra.Command, r room, w intent, err error) error {
	var no *refused
	if !errors.As(err, &no) {
		return err
	}
	if no.Conflict != nil {
		return fail(exitRefused, "%s", c.conflict(cmd, r, w, *no.Conflict))
	}
	message := r.clock.Local(cmp.Or(no.Detail, no.Error()))
	past := w.start != nil && w.start.Before(r.clock.Now) && no.Field == "start_time"
	backwards := w.start != nil && w.end != nil && !w.end.After(*w.start)
	switch {
	case past && !w.dated:
		what, which, _ := strings.Cut(message, ": ")
		message = strings.TrimSuffix(what+" (it is "+r.clock.Time(r.clock.Now)+" there): "+which, ": ") + "; --day takes another day"
	case backwards && no.Field == "end_time":
		message += ": over midnight give a length, as 2h"
	}
	return fail(exitRefused, "%s", message)
}

// conflict says from when to when the room is taken, and what is free instead.
func (c *client) conflict(cmd *cobra.Command, r room, w intent, busy booking.Interval) string {
	about := r.clock.Today()
	if busy.End.IsZero() {
		return fmt.Sprintf("%s is taken from %s on: choose another room", r.Name, r.clock.Say(busy.Start, about))
	}
	message := fmt.Sprintf("%s is taken from %s", r.Name, r.clock.FromTo(busy.Start, busy.End, about))
	start, end := w.times(r.clock.Now)
	if w.extends {
		if busy.Start.After(w.booking.End) {
			return message + fmt.Sprintf(": this one can end at %s at the latest", r.clock.Say(busy.Start, about))
		}
		start = w.booking.End
	}
	// The rest of the day tells what to do; without it the answer still stands.
	day := show.DateOf(start, r.clock.Zone)
	all, err := c.bookings(cmd, "", slices.MinFunc([]time.Time{start, day.Begins(r.clock.Zone)}, time.Time.Compare),
		slices.MaxFunc([]time.Time{end, day.Ends(r.clock.Zone)}, time.Time.Compare))
	if err != nil {
		return message
	}
	var ways []string
	if from, ok := c.freeFrom(cmd, all, r, w.id(), busy.End, end.Sub(start)); ok && !w.extends {
		ways = append(ways, r.clock.FromTo(from, from.Add(end.Sub(start)), about))
	}
	if others := c.freeThen(cmd, all, r.ID, start, end); len(others) > 0 {
		ways = append(ways, strings.Join(others, " or ")+" from "+r.clock.FromTo(start, end, about))
	}
	if len(ways) == 0 {
		return message + ": see roomgate booking list"
	}
	return message + ": take " + strings.Join(ways, ", or ")
}

// id is that of the booking to change.
func (w intent) id() string {
	if w.booking == nil {
		return ""
	}
	return w.booking.ID
}

// times are what is wanted, as far as it was said; a walk-up begins now.
func (w intent) times(now time.Time) (start, end time.Time) {
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
	ends := show.DateOf(t.Add(-1), r.clock.Zone).Ends(r.clock.Zone)
	t = r.clock.OnGrid(t, grid)
	slices.SortStableFunc(all, func(a, b bookingRecord) int { return a.Start.Compare(b.Start) })
	for _, b := range all {
		if b.SpaceID == r.ID && b.ID != except && b.Live() && b.Overlaps(t, t.Add(length)) {
			t = r.clock.OnGrid(b.End, grid)
		}
	}
	return t, !t.Add(length).After(ends)
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
