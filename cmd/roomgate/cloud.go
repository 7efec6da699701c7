package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/mail"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"roomgate/agent/booking"
	"roomgate/agent/schedule"
	"roomgate/agent/standin"

	"roomgate/cmd/roomgate/show"
)

func newCloud() *cobra.Command {
	schedule := &cobra.Command{Use: "schedule SPACE [START END]", Short: "show the bookings of the demo's cloud, or book there",
		Long: `Without times it lists what the stand-in cloud has booked in a meeting space.
With times it books there, or moves the booking of --id, and the cloud sends the
building what has changed. Times are as in "booking create".`,
		Example: "  roomgate cloud schedule aurora\n  roomgate cloud schedule aurora 14:00 15:00 --title 'Board meeting'\n" +
			"  roomgate cloud schedule aurora --id board --cancel",
		Args: cobra.RangeArgs(1, 3), RunE: asking(cloudSchedule)}
	f := schedule.Flags()
	f.String("data", "", withVariable(dataUsage, "data"))
	f.String("id", "", "`ID` of the booking, else one is made")
	f.String("title", "", "what the meeting is about")
	f.String("organizer", "", "`NAME <E-MAIL>` of who organizes it")
	f.String("day", "", "`DAY` of the times: today, tomorrow, monday or 2026-11-23")
	f.Bool("cancel", false, "take the booking of --id back")
	outputFlag(schedule)
	return group("cloud", "the cloud's side of a gateway, to try and test it", newServe(), newFleet(), newCloudCommand(), newCloudConfig(), newCloudRollout(), newCloudCell(), newCloudClaim(), newCloudKey(), newCloudCA(), schedule)
}

// cloudSchedule lists or changes the stand-in cloud's schedule.
func cloudSchedule(cmd *cobra.Command, c *client, args []string) error {
	s, err := cloudSpace(cmd, c, args[0])
	if err != nil {
		return err
	}
	o := standin.Request{Space: s.ID, ID: text(cmd, "id"), Title: text(cmd, "title")}
	o.Cancel, _ = cmd.Flags().GetBool("cancel")
	switch {
	case o.Cancel && o.ID == "":
		return fail(exitUsage, "--cancel needs --id: name the booking")
	case len(args) == 2:
		return fail(exitUsage, "a booking needs a start and an end")
	case len(args) == 3:
		if o.Organizer, err = cloudPerson(text(cmd, "organizer")); err != nil {
			return err
		}
		if err := cloudTimes(cmd, s.clock, &o, args[1], args[2]); err != nil {
			return err
		}
	}
	var answer standin.Schedule
	if err := c.book(cmd, http.MethodPost, "/cloud/schedule", o, &answer); err != nil {
		return s.explain(err)
	}
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), answer)
	}
	return printCloud(cmd, s.clock, answer)
}

func cloudTimes(cmd *cobra.Command, clock show.Clock, o *standin.Request, start, end string) error {
	day, err := clock.Day(text(cmd, "day"))
	if err != nil {
		return err
	}
	if o.Start, err = clock.At(start, day); err != nil {
		return err
	}
	o.End, err = clock.Until(end, o.Start, day)
	return err
}

func printCloud(cmd *cobra.Command, clock show.Clock, answer standin.Schedule) error {
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "the cloud's schedule has revision %d\n", answer.Revision)
	if len(answer.Bookings) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TIME\tSTATE\tSOURCE\tTITLE\tID")
	for _, b := range answer.Bookings {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", clock.Span(b.Start, b.End, clock.Today()), b.State, b.Source, show.Dash(b.Title), b.ID)
	}
	return w.Flush()
}

// knownSpace is a meeting space with its clock.
type knownSpace struct {
	ID, Name string
	clock    show.Clock
}

// explain says a refusal of the cloud in the room's own time.
func (s knownSpace) explain(err error) error {
	var no *refused
	if !errors.As(err, &no) {
		return err
	}
	if no.Conflict != nil {
		return fail(exitRefused, "%s is taken from %s: roomgate cloud schedule %s shows what the cloud has booked", s.Name,
			s.clock.FromTo(no.Conflict.Start, no.Conflict.End, s.clock.Today()), s.ID)
	}
	return fail(exitRefused, "%s", s.clock.Local(cmp.Or(no.Detail, no.Error())))
}

func cloudSpace(cmd *cobra.Command, c *client, name string) (known knownSpace, err error) {
	s, err := c.space(cmd, name)
	if err != nil {
		return known, err
	}
	var state struct {
		Response schedule.State `json:"response"`
	}
	if err := c.call(cmd.Context(), http.MethodGet, "/meetingspace/"+s.ID+"/state", nil, &state); err != nil {
		return known, err
	}
	known.ID, known.Name = s.ID, s.Name
	if known.clock.Zone, err = time.LoadLocation(s.Timezone); err != nil {
		return known, err
	}
	known.clock.Now, err = time.Parse(time.RFC3339, state.Response.Time)
	return known, err
}

// cloudPerson reads who organizes a meeting.
func cloudPerson(text string) (booking.Person, error) {
	if text == "" {
		return booking.Person{}, nil
	}
	a, err := mail.ParseAddress(text)
	if err != nil {
		return booking.Person{}, fail(exitUsage, "%q is nobody: want a name with an address, as 'A. Person <a@example.org>'", text)
	}
	return booking.Person{Name: a.Name, Email: a.Address}, nil
}
