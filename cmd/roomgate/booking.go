package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"roomgate/agent/booking"

	"roomgate/cmd/roomgate/show"
)

const bookingHelp = `Books meeting spaces, and shows what is booked.

A time is one of the space's own clock: 14:00, 2026-11-23T14:00 or now; +30m is
half an hour from now, or the next start after that by the space's grid. With
an offset a time is what it says: 2026-11-23T14:00:00+01:00. An end may be given
as a length: 30m or 1h30m. A day is today, tomorrow, a day of the week or
2026-11-23.

A booking is named by its id, by the last characters of its id (at least 4), or
by its space: then it is the one that is on now there, or else the next one.`

const bookingExample = `  roomgate booking list aurora
  roomgate booking create aurora now 30m
  roomgate booking create aurora 14:00 15:30 --title 'Design review' --organizer 'A. Person <a@example.org>'
  roomgate booking check-in aurora
  roomgate booking extend aurora 15m
  roomgate booking end aurora`

const listHelp = `Shows the bookings of a day, of one space or of all. The bar is the day by the
space's own clock, in a terminal that can show it:

  ▓ booked   █ checked in   ░ over   · free   ▐ where a booking begins   ▲ now
  =          #              -        .        [                          ^

Those that were cancelled, released or displaced are shown with --all.`

// bookingRecord is a booking as the gateway tells it.
type bookingRecord struct {
	booking.Booking
	raw json.RawMessage
}

// UnmarshalJSON keeps what was said beside what is understood of it.
func (r *bookingRecord) UnmarshalJSON(data []byte) error {
	err := json.Unmarshal(data, &r.Booking)
	r.raw = bytes.Clone(data)
	return err
}

// MarshalJSON says it again, word for word.
func (r bookingRecord) MarshalJSON() ([]byte, error) { return r.raw, nil }

func newBooking() *cobra.Command {
	list := &cobra.Command{Use: "list [SPACE]", Short: "show a day's bookings", Long: listHelp,
		Example: "  roomgate booking list aurora\n  roomgate booking list --day tomorrow",
		Args:    cobra.MaximumNArgs(1), ValidArgsFunction: completeSpace, RunE: asking(listBookings)}
	list.Flags().String("day", "today", "the `DAY`: today, tomorrow, monday or 2026-11-23")
	list.Flags().Bool("all", false, "also those that were cancelled, released or displaced")
	below := append([]*cobra.Command{list}, newBookingChanges()...)
	for _, cmd := range below {
		clientFlags(cmd)
	}
	cmd := group("booking", "bookings of meeting spaces", below...)
	cmd.Long, cmd.Example = bookingHelp, bookingExample
	return cmd
}

func listBookings(cmd *cobra.Command, c *client, args []string) error {
	rooms, err := c.rooms(cmd, args)
	if err != nil {
		return err
	}
	days := make([]bookedDay, len(rooms))
	told := []bookingRecord{}
	for i, r := range rooms {
		if days[i], err = c.bookedDay(cmd, r); err != nil {
			return err
		}
		told = append(told, days[i].shown...)
	}
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), told)
	}
	for i, d := range days {
		if i > 0 {
			fmt.Fprintln(cmd.OutOrStdout())
		}
		if err := d.print(cmd); err != nil {
			return err
		}
	}
	return nil
}

// rooms is the one that is named, or all.
func (c *client) rooms(cmd *cobra.Command, args []string) ([]room, error) {
	if len(args) == 1 {
		r, err := c.findRoom(cmd, args[0])
		return []room{r}, err
	}
	spaces, err := c.spaces(cmd)
	rooms := make([]room, len(spaces))
	for i, s := range spaces {
		if rooms[i], err = c.stateOf(cmd, s); err != nil {
			return nil, err
		}
	}
	return rooms, err
}

// bookedDay is one day of a space.
type bookedDay struct {
	room   room
	day    show.Date
	grid   time.Duration
	shown  []bookingRecord
	hidden int // cancelled and the like
}

func (c *client) bookedDay(cmd *cobra.Command, r room) (d bookedDay, err error) {
	d.room = r
	if d.day, err = r.clock.Day(text(cmd, "day")); err != nil {
		return d, err
	}
	if d.grid, err = c.grid(cmd, r.ID); err != nil {
		return d, err
	}
	all, err := c.bookings(cmd, r.ID, d.day.Begins(r.clock.Zone), d.day.Ends(r.clock.Zone))
	if err != nil {
		return d, err
	}
	everything, _ := cmd.Flags().GetBool("all")
	for _, b := range all {
		if everything || b.Live() || b.State == booking.Ended {
			d.shown = append(d.shown, b)
			continue
		}
		d.hidden++
	}
	return d, nil
}

// grid is the slot of a space.
func (c *client) grid(cmd *cobra.Command, spaceID string) (time.Duration, error) {
	var records []struct {
		ID   string `json:"id"`
		Slot int    `json:"slot_size"`
	}
	err := c.call(cmd.Context(), http.MethodGet, "/meetingspace/get_meeting_space", nil, &records)
	for _, s := range records {
		if s.ID == spaceID {
			return time.Duration(s.Slot) * time.Minute, err
		}
	}
	return quarter, err
}

// quarter is the slot of a space whose own is not known, and what is added to a
// meeting unless told otherwise.
const quarter = 15 * time.Minute

// bookings are those of a space, or of all if spaceID is empty, that share a
// moment with [from, until), by their start. Zero bounds are the gateway's:
// those from yesterday on.
func (c *client) bookings(cmd *cobra.Command, spaceID string, from, until time.Time) (all []bookingRecord, err error) {
	query := url.Values{"limit": {"200"}}
	for name, value := range map[string]time.Time{"from": from, "to": until} {
		if !value.IsZero() {
			query.Set(name, value.UTC().Format(time.RFC3339))
		}
	}
	if spaceID != "" {
		query.Set("meeting_space_id", spaceID)
	}
	for {
		var page struct {
			Bookings []bookingRecord `json:"bookings"`
			Next     string          `json:"next_cursor"`
		}
		if err := c.call(cmd.Context(), http.MethodGet, "/bookings?"+query.Encode(), nil, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Bookings...)
		if page.Next == "" || page.Next == query.Get("cursor") {
			return all, nil
		}
		query.Set("cursor", page.Next)
	}
}

// print shows the bar and the table.
func (d bookedDay) print(cmd *cobra.Command) error {
	out := cmd.OutOrStdout()
	style := show.StyleOf(cmd.OutOrStdout())
	heading := fmt.Sprintf("%s  %s  %s", show.Plain(d.room.Name), d.day, d.room.Timezone)
	if hours := d.day.Ends(d.room.clock.Zone).Sub(d.day.Begins(d.room.clock.Zone)); hours != 24*time.Hour {
		heading += fmt.Sprintf("  (the clocks change: %g hours)", hours.Hours())
	}
	all := make([]booking.Booking, len(d.shown))
	for i, b := range d.shown {
		all[i] = b.Booking
	}
	fmt.Fprintf(out, "%s\n%s", heading, show.DayBar{Clock: d.room.clock, Day: d.day, Grid: d.grid, Style: style}.Draw(all))
	if len(d.shown) == 0 {
		fmt.Fprintln(out, "no bookings"+d.more())
		return nil
	}
	header := "TIME TITLE ORGANIZER STATE ID"
	reasons := slices.ContainsFunc(all, func(b booking.Booking) bool { return b.Reason != "" })
	if reasons {
		header += " REASON"
	}
	err := output(cmd, nil, header, func(row func(...string)) {
		short := shortIDs(all)
		for _, b := range all {
			line := []string{d.room.clock.Span(b.Start, b.End, d.day), titleOf(b), personOf(b), string(b.State), short[b.ID]}
			if reasons {
				line = append(line, show.Dash(b.ReasonIn(d.room.clock.Zone)))
			}
			row(line...)
		}
	})
	if d.hidden > 0 {
		fmt.Fprintln(out, strings.TrimPrefix(d.more(), ", "))
	}
	return err
}

// more says what is not shown.
func (d bookedDay) more() string {
	if d.hidden == 0 {
		return ""
	}
	return fmt.Sprintf(", %d more cancelled, released or displaced: see --all", d.hidden)
}

func titleOf(b booking.Booking) string {
	if b.Private {
		return strings.TrimSpace(b.Title + " (private)")
	}
	return show.Dash(b.Title)
}

func personOf(b booking.Booking) string {
	if b.Organizer.Name == "" {
		return show.Dash(b.Organizer.Email)
	}
	return b.Organizer.Name
}

// line is a booking in one line, with what a person wants to know first.
func (r room) line(b booking.Booking) string {
	state := string(b.State)
	if b.Reason != "" {
		state += " (" + b.ReasonIn(r.clock.Zone) + ")"
	}
	when := r.clock.FullSpan(b.Start, b.End)
	if !b.PlannedEnd.IsZero() && !b.PlannedEnd.Equal(b.End) {
		when += " (planned until " + r.clock.Say(b.PlannedEnd, show.DateOf(b.Start, r.clock.Zone)) + ")"
	}
	return show.Plain(strings.Join([]string{state, r.Name, when, titleOf(b), personOf(b), b.ID}, "  "))
}
