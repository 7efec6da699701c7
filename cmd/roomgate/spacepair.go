package main

import (
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"roomgate/agent/qr"

	"roomgate/cmd/roomgate/show"
)

const pairHelp = `Makes a pairing code for a meeting space and prints the link to its page at the door.

Open the link in the browser of the tablet, or scan its QR code with it: the page
is paired. Or open the page without a code and type the code. It is good once, for
15 minutes; an older code of the space ends. The same code pairs a board or a
display that registers by itself.

"roomgate space displays" lists what was paired, with last seen and address;
"roomgate space unpair ID" ends it. "roomgate device list" shows how the display is.`

// pairing is a pairing code as the gateway answers.
type pairing struct {
	SpaceID  string `json:"meeting_space_id"`
	Code     string `json:"claim_code"`
	Link     string `json:"link,omitempty"`
	ExpiresS int64  `json:"expires_in_s"`
}

func newSpacePair() *cobra.Command {
	cmd := &cobra.Command{Use: "pair SPACE", Short: "make a pairing code for the page at a door", Long: pairHelp,
		Example: "  roomgate space pair aurora", Args: cobra.ExactArgs(1), ValidArgsFunction: completeSpace, RunE: asking(pairSpace)}
	clientFlags(cmd)
	cmd.Flags().Bool("qr", false, "draw the link as a QR code")
	return cmd
}

func pairSpace(cmd *cobra.Command, c *client, args []string) error {
	s, err := c.space(cmd, args[0])
	if err != nil {
		return err
	}
	var answer struct {
		Response pairing `json:"response"`
	}
	if err := c.call(cmd.Context(), http.MethodPost, "/meetingspace/"+s.ID+"/claim-code", nil, &answer); err != nil {
		return err
	}
	p := answer.Response
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), p)
	}
	if drawn, _ := cmd.Flags().GetBool("qr"); drawn && p.Link != "" {
		code, err := qr.New(p.Link)
		if err != nil {
			return err
		}
		fmt.Fprint(cmd.OutOrStdout(), code.Terminal())
	}
	fmt.Fprintf(cmd.OutOrStdout(), "pairing code %s pairs one page with %s within %d minutes\n", p.Code, show.Plain(s.Name), p.ExpiresS/60)
	if p.Link != "" {
		fmt.Fprintf(cmd.OutOrStdout(), "open %s\n", show.Plain(p.Link))
	}
	return nil
}
