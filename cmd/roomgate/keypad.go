package main

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"roomgate/cmd/roomgate/show"
)

// unlockCode is a code of a door as the gateway lists it.
type unlockCode struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Digits   int       `json:"digits"`
	From     time.Time `json:"valid_from"`
	Until    time.Time `json:"valid_until"`
	LastUsed time.Time `json:"last_used_at"`
	Opens    bool      `json:"opens"`
	Reason   string    `json:"reason,omitempty"`
}

// keypadState is the codes of a door, and how long its keypad takes none.
type keypadState struct {
	Codes      []unlockCode `json:"unlock_codes"`
	LockedOutS int64        `json:"locked_out_s"`
}

func newKeypad() *cobra.Command {
	list := &cobra.Command{Use: "list SPACE", Short: "list the codes of a door, and whether its keypad takes any", RunE: asking(listCodes)}
	lift := &cobra.Command{Use: "lift SPACE", Short: "let a keypad take codes again after too many wrong ones", RunE: asking(liftLockout)}
	for _, cmd := range []*cobra.Command{list, lift} {
		clientFlags(cmd)
		cmd.Args, cmd.ValidArgsFunction = cobra.ExactArgs(1), completeSpace
	}
	return group("keypad", "codes at the doors", list, lift)
}

func codesPath(s space) string { return "/meetingspace/" + url.PathEscape(s.ID) + "/unlock-codes" }

func listCodes(cmd *cobra.Command, c *client, args []string) error {
	s, err := c.space(cmd, args[0])
	if err != nil {
		return err
	}
	var answer struct {
		Response keypadState `json:"response"`
	}
	if err := c.call(cmd.Context(), http.MethodGet, codesPath(s), nil, &answer); err != nil {
		return err
	}
	err = output(cmd, answer.Response, "NAME DIGITS FROM UNTIL USED STATE", func(row func(...string)) {
		for _, code := range answer.Response.Codes {
			state := "opens"
			if !code.Opens {
				state = code.Reason
			}
			row(code.Name, fmt.Sprint(code.Digits), day(code.From), day(code.Until), day(code.LastUsed), state)
		}
	})
	if wait := answer.Response.LockedOutS; err == nil && wait > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "the keypad takes no code for another %d s: roomgate keypad lift %s\n", wait, args[0])
	}
	return err
}

func liftLockout(cmd *cobra.Command, c *client, args []string) error {
	s, err := c.space(cmd, args[0])
	if err != nil {
		return err
	}
	if err := c.call(cmd.Context(), http.MethodDelete, codesPath(s)+"/lockout", nil, nil); err != nil {
		return err
	}
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), map[string]any{"meeting_space_id": s.ID, "locked_out_s": 0})
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: the keypad takes codes\n", show.Plain(s.Name))
	return err
}
