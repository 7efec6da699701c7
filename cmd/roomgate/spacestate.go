package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"roomgate/agent/booking"
	"roomgate/agent/clock"

	"roomgate/cmd/roomgate/show"
)

const stateHelp = `Shows what the sign at the door says: whether the space is free and how long,
the meeting that is on and the one after it, whether somebody is in the room,
and the colour of the ring. Times are of the space's own clock.

A title is shown if the space shows titles at the door; "booking list" has it
in any case.`

// meeting is a booking as the door shows it.
type meeting struct {
	ID           string        `json:"id"`
	Title        string        `json:"title"`
	Organizer    string        `json:"organizer"`
	Private      bool          `json:"private"`
	Start        time.Time     `json:"start_time"`
	End          time.Time     `json:"end_time"`
	State        booking.State `json:"state"`
	CheckInUntil time.Time     `json:"check_in_until"` // zero: there is nothing to miss
}

// spaceState is what the gateway says of a space; a zero time is unknown.
type spaceState struct {
	Status         booking.Status `json:"status"`
	Time           time.Time      `json:"time"`
	TimeTrust      clock.Trust    `json:"time_trust"`
	Current        *meeting       `json:"current"`
	Next           *meeting       `json:"next"`
	AvailableUntil time.Time      `json:"available_until"`
	NextAvailable  time.Time      `json:"next_available_time"`
	Occupancy      struct {
		Value      string    `json:"value"`
		ObservedAt time.Time `json:"observed_at"`
	} `json:"occupancy"`
	Ring string        `json:"ring"`
	Hold *booking.Hold `json:"hold"`

	raw json.RawMessage
}

// UnmarshalJSON keeps what was said beside what is understood of it.
func (s *spaceState) UnmarshalJSON(data []byte) error {
	type fields spaceState
	err := json.Unmarshal(data, (*fields)(s))
	s.raw = bytes.Clone(data)
	return err
}

// MarshalJSON says it again, word for word.
func (s spaceState) MarshalJSON() ([]byte, error) { return s.raw, nil }

// room is a meeting space with its state and its clock.
type room struct {
	space
	State spaceState `json:"state"`
	clock show.Clock
}

// findRoom finds a meeting space by id or name, and asks for its state.
func (c *client) findRoom(cmd *cobra.Command, nameOrID string) (room, error) {
	s, err := c.space(cmd, nameOrID)
	if err != nil {
		return room{}, err
	}
	return c.stateOf(cmd, s)
}

func (c *client) stateOf(cmd *cobra.Command, s space) (room, error) {
	var answer struct {
		Response spaceState `json:"response"`
	}
	err := c.call(cmd.Context(), http.MethodGet, "/meetingspace/"+url.PathEscape(s.ID)+"/state", nil, &answer)
	if err != nil {
		return room{}, err
	}
	zone, err := time.LoadLocation(s.Timezone)
	if err != nil {
		return room{}, fmt.Errorf("the time zone %q of %s is not known here", s.Timezone, s.Name)
	}
	now := answer.Response.Time
	if now.IsZero() {
		now = time.Now()
	}
	return room{s, answer.Response, show.Clock{Zone: zone, Now: now}}, nil
}

// meeting is one line: when, and as much of what and who as is known.
func (r room) meeting(m *meeting) string {
	if m == nil {
		return "-"
	}
	line := r.clock.Span(m.Start, m.End, r.clock.Today())
	if what := cmp.Or(m.Title, m.Organizer); what != "" {
		return line + " " + what
	}
	if m.Private {
		return line + " (private)"
	}
	return line
}

// openEnd is said of a space of which nobody wants anything yet.
const openEnd = "open end"

// freeUntil is how long an available space stays so.
func (r room) freeUntil() string {
	switch {
	case r.State.Status != booking.Available:
		return "-"
	case r.State.AvailableUntil.IsZero():
		return openEnd
	}
	return r.clock.Say(r.State.AvailableUntil, r.clock.Today())
}

func (r room) sayOr(t time.Time, about show.Date) string {
	switch {
	case t.IsZero():
		return ""
	case !t.After(r.clock.Now):
		return "now"
	}
	return r.clock.Say(t, about)
}

func showState(cmd *cobra.Command, c *client, args []string) error {
	r, err := c.findRoom(cmd, args[0])
	if err != nil {
		return err
	}
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), r.State)
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	for _, line := range r.sheet() {
		fmt.Fprintf(w, "%s\t%s\n", line[0], show.Plain(line[1]))
	}
	return w.Flush()
}

// sheet is the state by name.
func (r room) sheet() [][2]string {
	s := r.State
	return [][2]string{
		{"space", r.Name},
		{"status", r.status()},
		{"now", r.meeting(s.Current) + r.appeal(s.Current)},
		{"next", r.meeting(s.Next) + r.appeal(s.Next)},
		{"free from", show.Dash(r.sayOr(s.NextAvailable, r.clock.Today()))},
		{"occupancy", r.occupancy()},
		{"ring", show.Dash(s.Ring)},
		{"clock", r.wallClock()},
	}
}

// status says also how long, and why where somebody has set it.
func (r room) status() string {
	line := string(r.State.Status)
	switch {
	case r.State.Status == booking.Available && r.State.AvailableUntil.IsZero():
		line += ", " + openEnd
	case r.State.Status == booking.Available:
		line += " until " + r.freeUntil()
	}
	h := r.State.Hold
	if h == nil {
		return line
	}
	line = string(r.State.Status) + ", set"
	if !h.Until.IsZero() {
		line += " until " + r.clock.Say(h.Until, r.clock.Today())
	}
	if h.Note != "" {
		line += ": " + h.Note
	}
	return line
}

// appeal says by when somebody has to check in.
func (r room) appeal(m *meeting) string {
	switch {
	case m == nil:
		return ""
	case m.State == booking.CheckedIn:
		return ", checked in"
	case !m.CheckInUntil.IsZero():
		return ", to be checked in by " + r.clock.Say(m.CheckInUntil, r.clock.Today())
	}
	return ""
}

func (r room) occupancy() string {
	o := r.State.Occupancy
	if o.ObservedAt.IsZero() {
		return show.Dash(o.Value)
	}
	return fmt.Sprintf("%s, seen %s ago", o.Value, age(r.clock.Now.Sub(o.ObservedAt)))
}

// age is how long ago something was, as people say it.
func age(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", max(d.Seconds(), 0))
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.0f h", d.Hours())
}

func (r room) wallClock() string {
	today := r.clock.Today()
	line := fmt.Sprintf("%s %s, %s", today, r.clock.Time(r.clock.Now), r.Timezone)
	if r.State.TimeTrust != clock.Trusted {
		line += ", not trusted: no booking is released until it is"
	}
	return line
}
