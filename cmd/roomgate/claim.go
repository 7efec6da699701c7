package main

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"roomgate/agent/claim"
	"roomgate/agent/qr"

	"roomgate/cmd/roomgate/show"
)

const claimHelp = `Shows the owner of this gateway, or the code by which somebody claims it.

A gateway that its cloud does not know shows a code: here and on the attached
screen. --show shows it as a page at /claim too, for ten minutes: everybody in
the network can read it there. A demo always does. Scan it with a phone, or type
it where your organization takes it. The cloud then gives the gateway its
organization and its own user at the broker, once; spaces for which the
configuration names no organization are its own as long as the claim lasts. A
code is shown for half an hour and taken for as long again; a restart ends it.

--release ends a claim: the gateway logs in as its configuration says and shows
a new code. What the organization has on the gateway stays, and spaces that the
configuration gives to nobody are nobody's again.`

func newClaim() *cobra.Command {
	cmd := &cobra.Command{Use: "claim", Short: "show the claim code of this gateway, or its owner", Long: claimHelp,
		Args: cobra.NoArgs, RunE: asking(runClaim)}
	cmd.Flags().Bool("show", false, "show the code to the network for ten minutes, at /claim")
	cmd.Flags().Bool("release", false, "end the claim")
	cmd.Flags().String("config", "", withVariable("configuration `FILE`, which only says where the data is", "config"))
	clientFlags(cmd)
	return cmd
}

// claimShown is the gateway's claim as it answers.
type claimShown struct {
	claim.Status
	ClaimedAt time.Time `json:"claimed_at,omitzero"`
}

func runClaim(cmd *cobra.Command, c *client, _ []string) error {
	if flagged(cmd, "release") {
		if err := c.call(cmd.Context(), http.MethodDelete, "/claim", nil, nil); err != nil {
			return err
		}
	}
	if flagged(cmd, "show") {
		if err := showToNetwork(cmd, c); err != nil {
			return err
		}
	}
	var g claimShown
	if err := c.call(cmd.Context(), http.MethodGet, "/claim", nil, &g); err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if wantsJSON(cmd) {
		return show.JSON(out, g)
	}
	screen := show.FileOf(out)
	words := g.text(screen != nil && show.IsTerminal(screen))
	if flagged(cmd, "show") && g.Code != "" {
		words += "for ten minutes everybody in the network can read it at /claim of this gateway\n"
	}
	_, err := io.WriteString(out, words)
	return err
}

// showToNetwork lets the network see the code for a while: who is on the gateway
// may say that.
func showToNetwork(cmd *cobra.Command, c *client) error {
	if text(cmd, "url") != "" {
		return fail(exitUsage, "--show works on the gateway itself: run it there, without --url")
	}
	return c.call(cmd.Context(), http.MethodPost, "/claim/show", nil, nil)
}

// showClaimDoor answers POST /claim/show.
func (g *gateway) showClaimDoor(w http.ResponseWriter, _ *http.Request) {
	g.agent.Claim.ShowNetwork(claim.NetworkWindow)
	w.WriteHeader(http.StatusNoContent)
}

// text is the claim for people, with a drawing of the code if that is wanted.
func (g claimShown) text(drawn bool) string {
	switch {
	case g.State == claim.Done:
		return fmt.Sprintf("gateway %s belongs to %s since %s\n", g.ID, show.Plain(g.Organization), day(g.ClaimedAt))
	case g.State != claim.Waiting:
		return fmt.Sprintf("nobody has to claim gateway %s: %s\n", g.ID, show.Plain(g.Reason))
	case drawn && g.Code != "":
		return drawClaim(g.Status) + claimWords(g.Status)
	}
	return claimWords(g.Status)
}

// drawClaim draws the code of a gateway that waits for somebody to scan it;
// one that is too long for that is left to the words.
func drawClaim(g claim.Status) string {
	code, err := qr.New(cmp.Or(g.URL, g.Code))
	if err != nil {
		return ""
	}
	return code.Terminal()
}

// claimWords is the code for people, who may have no phone at hand.
func claimWords(g claim.Status) string {
	var b strings.Builder
	fmt.Fprintf(&b, "gateway %s belongs to nobody yet\n", g.ID)
	if g.Code == "" {
		fmt.Fprintf(&b, "%s\n", show.Plain(g.Reason))
		return b.String()
	}
	fmt.Fprintf(&b, "claim code %s\n", g.Code)
	if g.URL != "" {
		fmt.Fprintf(&b, "scan it, or open %s\n", show.Plain(g.URL))
	}
	if !g.CloudConnected {
		b.WriteString("the cloud is not reached now: a claim gets through once it is, see roomgate doctor\n")
	}
	return b.String()
}
