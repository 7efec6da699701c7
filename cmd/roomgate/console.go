package main

import (
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"roomgate/agent/access"
	"roomgate/agent/eventlog"
	"roomgate/agent/qr"
	"roomgate/cmd/roomgate/show"
)

const consoleHelp = `Prints a link to the console, the pages for whoever looks after this building,
at a terminal with its QR code for a phone.

The link signs in without internet or mail: once, within ten minutes, with five
tries. The session may do everything, and ends after eight hours or with the
browser's tab. Sign out ends it before; "roomgate user sign-out --all" ends all of them at once.
Another link ends the one before. The log of changes has each link and each session.

It works on the gateway itself, through its control socket.`

func newConsole() *cobra.Command {
	cmd := &cobra.Command{Use: "console", Short: "print a link to the console that signs in once", Long: consoleHelp,
		Args: cobra.NoArgs, RunE: asking(runConsole)}
	clientFlags(cmd)
	return cmd
}

// consoleLink is a link to the console as the gateway answers.
type consoleLink struct {
	Link     string `json:"link"`
	Code     string `json:"code"`
	ExpiresS int64  `json:"expires_in_s"`
}

func runConsole(cmd *cobra.Command, c *client, _ []string) error {
	if text(cmd, "url") != "" {
		return fail(exitUsage, "a link to the console is made on the gateway itself: run it there, without --url")
	}
	var l consoleLink
	if err := c.call(cmd.Context(), http.MethodPost, "/console/code", nil, &l); err != nil {
		return err
	}
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), l)
	}
	if f := show.FileOf(cmd.OutOrStdout()); f != nil && show.IsTerminal(f) { // a pipe shows nobody a picture
		code, err := qr.New(l.Link)
		if err != nil {
			return err
		}
		fmt.Fprint(f, code.Terminal())
	}
	fmt.Fprintf(cmd.OutOrStdout(), "open %s\n", show.Plain(l.Link))
	fmt.Fprintf(cmd.OutOrStdout(), "it signs in once, within %d minutes; the code to type is %s\n", l.ExpiresS/60, l.Code)
	return nil
}

// consoleDoor answers POST /console/code.
func (g *gateway) consoleDoor(w http.ResponseWriter, r *http.Request) {
	base := g.agent.Health.Network().Base()
	if base == "" {
		answerDoor(w, nil, fmt.Errorf("this gateway serves no http: set http.listen"))
		return
	}
	ctx := g.agent.Events.WithAudit(r.Context(), eventlog.Record{Type: access.EventConsoleCode, Time: time.Now(), Device: eventlog.GatewayDevice,
		Details: map[string]any{"by": "control", "by_id": "control", "by_kind": access.KindSystem}})
	code, life, err := g.agent.Access.Console.New(ctx)
	g.agent.Events.Grow()
	answerDoor(w, consoleLink{base + "/console#code=" + code, code, int64(life / time.Second)}, err)
}
