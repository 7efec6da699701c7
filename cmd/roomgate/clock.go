package main

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"roomgate/agent/clock"
	"roomgate/agent/health"

	"roomgate/cmd/roomgate/show"
)

const clockHelp = `Says that the clock of the gateway is right, which is that of its machine, but in
a demo also what "sim clock" made of it.

A clock that jumps by more than a day while the gateway runs, or that is more
than 400 days later than when it stopped, is not believed: bookings are not
released, ended or forgotten, codes with a time open no door, and the rooms go on
by the time that the gateway has lived through. Look at the clock first (date, or
timedatectl). If it is wrong, correct it: the gateway believes it again by itself.
If it is right, confirm it: both times are shown, and you are asked. The cloud
confirms it too when its messages tell the same time, and so does a time service
that insists for a day on a jump of up to 400 days.

With clock.trust auto it also stands in for a time service where there is none,
until somebody sets the clock or the machine starts again.`

func newClock() *cobra.Command {
	confirm := &cobra.Command{Use: "confirm", Short: "say that the clock of the gateway is right", Long: clockHelp,
		Args: cobra.NoArgs, RunE: asking(confirmClock)}
	confirm.Flags().String("data", "", withVariable(dataUsage, "data"))
	confirm.Flags().Bool("yes", false, "ask nobody, as in a script")
	outputFlag(confirm)
	cmd := group("clock", "the clock of the gateway", confirm)
	cmd.Long = "Says what time the gateway's clock shows, and whether the gateway believes it."
	cmd.Args, cmd.RunE = nil, func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return needsOneBelow(cmd, args)
		}
		return asking(showClock)(cmd, args)
	}
	cmd.Flags().String("data", "", withVariable(dataUsage, "data"))
	outputFlag(cmd)
	return cmd
}

// showClock says what time it is for the gateway, and why it believes that or does not.
func showClock(cmd *cobra.Command, c *client, _ []string) error {
	var now health.Clock
	if err := c.call(cmd.Context(), http.MethodGet, "/clock", nil, &now); err != nil {
		return err
	}
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), now)
	}
	lines := clockLines(now)
	if !now.Trusted {
		lines = append(lines, "the gateway does not believe it: "+asCalled(disbelief(now.Reason)))
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(cmd.OutOrStdout(), line); err != nil {
			return err
		}
	}
	return nil
}

// disbelief says why a clock is not believed, and what to do about it.
func disbelief(reason string) string {
	switch reason {
	case "never":
		return "clock.trust in the configuration is never"
	case "jumped":
		return "it has jumped; if it is right, roomgate clock confirm"
	}
	return "no time service vouches for it; if it is right, roomgate clock confirm"
}

// clockAnswer is what a gateway thinks of its clock.
type clockAnswer struct {
	Now   time.Time   `json:"now"`
	Trust clock.Trust `json:"trust"`
}

func confirmClock(cmd *cobra.Command, c *client, _ []string) error {
	if !flagged(cmd, "yes") {
		if err := clockIsRight(cmd, c); err != nil {
			return err
		}
	}
	var answer clockAnswer
	if err := c.call(cmd.Context(), http.MethodPost, "/clock", nil, &answer); err != nil {
		return err
	}
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), answer)
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "the clock shows %s and is %s\n", answer.Now.Format(time.RFC3339), answer.Trust)
	return err
}

// clockIsRight shows the time of the clock and the time until which the gateway ran, and
// asks whether the clock is right. An error says why it cannot be confirmed.
func clockIsRight(cmd *cobra.Command, c *client) error {
	var now health.Clock
	if err := c.call(cmd.Context(), http.MethodGet, "/clock", nil, &now); err != nil {
		return err
	}
	t := newTerminal(cmd)
	for _, line := range clockLines(now) {
		fmt.Fprintln(t.Out, line)
	}
	for {
		said, err := t.Line(cmd.Context(), "is the gateway's clock right? [y/n] ")
		if errors.Is(err, show.ErrNobody) {
			return fail(exitUsage, "nobody answers here, and nothing was confirmed: with --yes nobody is asked")
		}
		if err != nil {
			return err
		}
		switch strings.ToLower(said) {
		case "y", "yes":
			return nil
		case "n", "no":
			correct := "timedatectl"
			var who health.Identity
			if err := c.call(cmd.Context(), http.MethodGet, "/gateway", nil, &who); err == nil && who.Simulated {
				correct = "roomgate sim clock real"
			}
			return fail(exitRefused, "nothing was confirmed: correct the clock (%s), and the gateway believes it again by itself", correct)
		}
		fmt.Fprintln(t.Out, "answer y for yes or n for no")
	}
}

// clockLines are both times, for people.
func clockLines(c health.Clock) []string {
	const layout = "Mon 2 Jan 2006 15:04:05 MST"
	all := []string{"the gateway's clock shows " + c.Now.Local().Format(layout)}
	lived := c.Now.Add(-time.Duration(c.JumpS) * time.Second)
	switch way := "later"; {
	case c.JumpS != 0:
		if c.JumpS < 0 {
			way = "earlier"
		}
		return append(all, fmt.Sprintf("the gateway has lived through to %s: the clock is %s %s", lived.Local().Format(layout), show.Count(int(lived.Sub(c.Now).Abs().Hours()/24), "day"), way))
	case c.Trusted:
		return append(all, "the gateway believes it")
	}
	return append(all, "the gateway has lived through to the same time")
}

// tellClock says what the clock shows and what it is worth.
func (g *gateway) tellClock(w http.ResponseWriter, _ *http.Request) {
	answerDoor(w, g.agent.Health.Clock(), nil)
}

// takeClock confirms the clock.
func (g *gateway) takeClock(w http.ResponseWriter, r *http.Request) {
	v, err := g.agent.ConfirmClock(r.Context(), "roomgate clock confirm")
	answerDoor(w, clockAnswer{v.Wall.UTC(), v.Trust}, err)
}
