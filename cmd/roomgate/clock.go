package main

import (
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"roomgate/agent/clock"

	"roomgate/cmd/roomgate/show"
)

const clockHelp = `Says that the clock of this machine is right.

A clock that jumps by more than a day while the gateway runs, or that is more
than 400 days later than when it stopped, is not believed: bookings are not
released, ended or forgotten, codes with a time open no door, and the rooms go on
by the time that the gateway has lived through. Look at the clock first (date, or
timedatectl). If it is wrong, correct it: the gateway believes it again by itself.
If it is right, confirm it. The cloud confirms it too when its messages tell the
same time, and so does a time service that insists for a day on a jump of up to
400 days.

With clock.trust auto it also stands in for a time service where there is none,
until somebody sets the clock or the machine starts again.`

func newClock() *cobra.Command {
	confirm := &cobra.Command{Use: "confirm", Short: "say that the clock of this machine is right", Long: clockHelp,
		Args: cobra.NoArgs, RunE: asking(confirmClock)}
	confirm.Flags().String("data", "", withVariable(dataUsage, "data"))
	outputFlag(confirm)
	return group("clock", "the clock of the gateway", confirm)
}

// clockAnswer is what a gateway thinks of its clock.
type clockAnswer struct {
	Now   time.Time   `json:"now"`
	Trust clock.Trust `json:"trust"`
}

func confirmClock(cmd *cobra.Command, c *client, _ []string) error {
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

// takeClock confirms the clock.
func (g *gateway) takeClock(w http.ResponseWriter, r *http.Request) {
	v, err := g.agent.ConfirmClock(r.Context(), "roomgate clock confirm")
	answerDoor(w, clockAnswer{v.Wall.UTC(), v.Trust}, err)
}
