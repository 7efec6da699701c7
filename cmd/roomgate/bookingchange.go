package main

import (
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"roomgate/agent/booking"

	"roomgate/cmd/roomgate/show"
)

// nounID is what the help calls a booking.
const nounID = "BOOKING|SPACE"

const createHelp = `Books a meeting space and prints the booking with its id.

A booking that begins now is a walk-up: who makes it stands in the room, so it
is checked in. Without an end it takes what the gateway gives: half an hour, or
until the next booking.`

const updateHelp = `Changes what is named and leaves the rest as it is. --day alone moves the booking
to the same time of another day. A meeting that has begun keeps its start.`

const extendHelp = `Moves the end of a booking: by a length, 15m unless another is given, or to a
time of its day.`

const cancelHelp = `Takes a booking back. A meeting that is checked in is ended instead.`

// newBookingChanges are the commands that change a booking.
func newBookingChanges() []*cobra.Command {
	create := &cobra.Command{Use: "create SPACE START [END|LENGTH]", Short: "book a meeting space", Long: createHelp,
		Example: "  roomgate booking create aurora now 30m\n" +
			"  roomgate booking create aurora 14:00 15:30 --day tomorrow --title 'Design review' --organizer 'A. Person <a@example.org>'\n" +
			"  roomgate booking create aurora 2026-11-23T14:00:00+01:00 45m",
		Args: cobra.RangeArgs(2, 3), ValidArgsFunction: completeSpace, RunE: asking(createBooking)}
	update := &cobra.Command{Use: "update " + nounID, Short: "change a booking", Long: updateHelp,
		Example: "  roomgate booking update 7Q4RDX --start 15:00 --end 16:00\n  roomgate booking update aurora --title 'Design review, part 2'",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: completeSpace, RunE: asking(updateBooking)}
	update.Flags().String("start", "", "the new start, a `TIME`")
	update.Flags().String("end", "", "the new end, a `TIME` or a length")
	for _, cmd := range []*cobra.Command{create, update} {
		cmd.Flags().String("title", "", "what it is about, a `TEXT`")
		cmd.Flags().String("organizer", "", "who it is for, as 'A. Person <a@example.org>' or either, a `PERSON`")
		cmd.Flags().Bool("private", false, "hide title and organizer at the door")
		cmd.Flags().String("day", "", "the `DAY` of times without one: today, tomorrow, monday or 2026-11-23")
	}
	return []*cobra.Command{create, update,
		bookingStep("cancel "+nounID, "take a booking back", cancelHelp, http.MethodDelete, ""),
		bookingStep("check-in "+nounID, "say that who booked is here", "", http.MethodPost, "/check-in"),
		{Use: "extend " + nounID + " [LENGTH|END]", Short: "let a booking end later", Long: extendHelp,
			Example: "  roomgate booking extend aurora\n  roomgate booking extend aurora 30m\n  roomgate booking extend aurora 16:00",
			Args:    cobra.RangeArgs(1, 2), ValidArgsFunction: completeSpace, RunE: asking(extendBooking)},
		bookingStep("end "+nounID, "end a meeting now and give the rest of its time back", "", http.MethodPost, "/end")}
}

// bookingStep is a command that does one thing to a booking.
func bookingStep(use, short, long, method, path string) *cobra.Command {
	name, _, _ := strings.Cut(use, " ")
	return &cobra.Command{Use: use, Short: short, Long: long, Example: "  roomgate booking " + name + " aurora\n  roomgate booking " + name + " 7Q4RDX",
		Args: cobra.ExactArgs(1), ValidArgsFunction: completeSpace,
		RunE: asking(func(cmd *cobra.Command, c *client, args []string) error {
			b, r, err := c.booking(cmd, args[0])
			if err != nil {
				return err
			}
			return c.changed(cmd, r, method, bookingPath(b.ID)+path, nil, intent{booking: &b.Booking})
		})}
}

// bookingBody is what is asked of a booking; nil is left as it is.
type bookingBody struct {
	SpaceID   string          `json:"meeting_space_id,omitempty"`
	Title     *string         `json:"title,omitempty"`
	Private   *bool           `json:"private,omitempty"`
	Organizer *booking.Person `json:"organizer,omitempty"`
	Start     *time.Time      `json:"start_time,omitempty"`
	End       *time.Time      `json:"end_time,omitempty"`
	Minutes   int             `json:"minutes,omitempty"`
	Source    booking.Source  `json:"source,omitempty"`
}

// describe takes what the flags say of a booking beside its time.
func (b *bookingBody) describe(cmd *cobra.Command) error {
	f := cmd.Flags()
	if f.Changed("title") {
		title := text(cmd, "title")
		b.Title = &title
	}
	if f.Changed("private") {
		private, err := f.GetBool("private")
		if err != nil {
			return err
		}
		b.Private = &private
	}
	if f.Changed("organizer") {
		who := parsePerson(text(cmd, "organizer"))
		b.Organizer = &who
	}
	return nil
}

// parsePerson reads "A. Person <a@example.org>", a name or an address. The
// gateway judges them.
func parsePerson(text string) booking.Person {
	text = strings.TrimSpace(text)
	if name, address, ok := strings.Cut(text, "<"); ok && strings.HasSuffix(address, ">") {
		name = strings.TrimFunc(name, func(r rune) bool { return r == '"' || unicode.IsSpace(r) })
		return booking.Person{Name: name, Email: strings.TrimSpace(strings.TrimSuffix(address, ">"))}
	}
	if strings.Contains(text, "@") && !strings.ContainsAny(text, " <>") {
		return booking.Person{Email: text}
	}
	return booking.Person{Name: text}
}

func createBooking(cmd *cobra.Command, c *client, args []string) error {
	r, err := c.findRoom(cmd, args[0])
	if err != nil {
		return err
	}
	day, err := r.clock.Day(text(cmd, "day"))
	if err != nil {
		return err
	}
	body := bookingBody{SpaceID: r.ID}
	if err := body.describe(cmd); err != nil {
		return err
	}
	end := ""
	if len(args) == 3 {
		end = args[2]
	}
	grid, err := c.gridFor(cmd, r, args[1])
	if err != nil {
		return err
	}
	if err := body.times(r.clock, day, grid, args[1], end); err != nil {
		return err
	}
	w := intent{start: body.Start, end: body.End, dated: cmd.Flags().Changed("day")}
	return c.changed(cmd, r, http.MethodPost, "/bookings", body, w)
}

// gridFor is the grid to which a start like +30m is moved up, as nobody counts
// to the second; 0 for a start that was said in full.
func (c *client) gridFor(cmd *cobra.Command, r room, start string) (time.Duration, error) {
	if !strings.HasPrefix(start, "+") {
		return 0, nil
	}
	return c.grid(cmd, r.ID)
}

// times reads START [END|LENGTH] of a new booking.
func (b *bookingBody) times(c show.Clock, day show.Date, grid time.Duration, start, end string) error {
	if strings.EqualFold(start, "now") {
		return b.walkUp(c, day, end)
	}
	if end == "" {
		return fail(exitUsage, "a booking that does not begin now needs an end: give one as 15:30 or 45m")
	}
	from, err := c.At(start, day)
	if err != nil {
		return err
	}
	from = c.OnGrid(from, grid)
	until, err := c.Until(end, from, day)
	if err != nil {
		return err
	}
	b.Start, b.End = utc(from), utc(until)
	return nil
}

// walkUp reads the end of a booking that begins now. Without one the gateway
// says how long it may be.
func (b *bookingBody) walkUp(c show.Clock, day show.Date, end string) error {
	b.Source = booking.WalkUp
	if day != c.Today() {
		return fail(exitUsage, "now is not on %s: leave --day away, or give a time", day)
	}
	if end == "" {
		return nil
	}
	from := c.Now.Truncate(time.Second)
	until, err := c.Until(end, from, day)
	b.Start, b.End = utc(from), utc(until)
	return err
}

func utc(t time.Time) *time.Time {
	t = t.UTC()
	return &t
}

func updateBooking(cmd *cobra.Command, c *client, args []string) error {
	f := cmd.Flags()
	if !f.Changed("title") && !f.Changed("organizer") && !f.Changed("private") && !f.Changed("start") && !f.Changed("end") && !f.Changed("day") {
		return fail(exitUsage, "nothing to change: give --title, --organizer, --private, --start, --end or --day")
	}
	b, r, err := c.booking(cmd, args[0])
	if err != nil {
		return err
	}
	body := bookingBody{}
	if err := body.describe(cmd); err != nil {
		return err
	}
	grid, err := c.gridFor(cmd, r, text(cmd, "start"))
	if err != nil {
		return err
	}
	if err := body.move(cmd, r.clock, grid, b.Booking); err != nil {
		return err
	}
	w := intent{booking: &b.Booking, start: body.Start, end: body.End, dated: f.Changed("day")}
	return c.changed(cmd, r, http.MethodPatch, bookingPath(b.ID), body, w)
}

// move reads the new times of a booking. Those without a day are of its own
// days, or of --day.
func (body *bookingBody) move(cmd *cobra.Command, c show.Clock, grid time.Duration, b booking.Booking) (err error) {
	f := cmd.Flags()
	start, end := b.Start, b.End
	firstDay, lastDay := show.DateOf(start, c.Zone), show.DateOf(end, c.Zone)
	if f.Changed("day") {
		to, err := c.Day(text(cmd, "day"))
		if err != nil {
			return err
		}
		if start, end, err = c.Moved(start, end, to); err != nil {
			return err
		}
		firstDay, lastDay = to, show.DateOf(end, c.Zone)
		body.Start, body.End = utc(start), utc(end)
	}
	if f.Changed("start") {
		if start, err = c.At(text(cmd, "start"), firstDay); err != nil {
			return err
		}
		start = c.OnGrid(start, grid)
		body.Start = utc(start)
	}
	if f.Changed("end") {
		if end, err = c.Until(text(cmd, "end"), start, lastDay); err != nil {
			return err
		}
		body.End = utc(end)
	}
	return nil
}

func extendBooking(cmd *cobra.Command, c *client, args []string) error {
	b, r, err := c.booking(cmd, args[0])
	if err != nil {
		return err
	}
	body := bookingBody{Minutes: 15}
	until := b.End.Add(quarter)
	switch {
	case len(args) == 2 && show.IsLength(args[1]):
		length, err := show.ParseLength(args[1])
		if err != nil {
			return err
		}
		body.Minutes, until = int(length/time.Minute), b.End.Add(length)
	case len(args) == 2:
		if until, err = r.clock.At(args[1], show.DateOf(b.End.Add(-1), r.clock.Zone)); err != nil {
			return err
		}
		body = bookingBody{End: utc(until)}
	}
	return c.changed(cmd, r, http.MethodPost, bookingPath(b.ID)+"/extend", body, intent{booking: &b.Booking, end: &until, extends: true})
}

// changed asks for a change and prints the booking as it is then.
func (c *client) changed(cmd *cobra.Command, r room, method, path string, in any, w intent) error {
	var b bookingRecord
	if err := c.book(cmd, method, path, in, &b); err != nil {
		return c.explain(cmd, r, w, err)
	}
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), b)
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), r.line(b.Booking))
	return err
}
