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

const codeSetHelp = `Makes a code that opens a door at its keypad, and shows it once. The code of that name, if there is
one, keeps its digits, unless --code-file has others, and opens for as long as is said now.`

func newKeypad() *cobra.Command {
	list := &cobra.Command{Use: "list SPACE", Short: "list the codes of a door, and whether its keypad takes any", RunE: asking(listCodes)}
	lift := &cobra.Command{Use: "lift SPACE", Short: "let a keypad take codes again after too many wrong ones", RunE: asking(liftLockout)}
	set := &cobra.Command{Use: "set SPACE NAME", Short: "make or change a code of a door", Long: codeSetHelp,
		Example: "  roomgate keypad set aurora cleaning\n  roomgate keypad set aurora fitter --for 8h", RunE: asking(setCode)}
	lifeFlag(set, "for", 0, "how long it opens from now on, as 8h or 7d; 0: until it is deleted")
	set.Flags().String("code-file", "", "a `FILE` with digits of your own in its first line, - for standard input")
	remove := &cobra.Command{Use: "delete SPACE NAME", Short: "delete a code of a door", RunE: asking(deleteCode)}
	for _, cmd := range []*cobra.Command{list, lift, set, remove} {
		clientFlags(cmd)
		cmd.Args, cmd.ValidArgsFunction = cobra.ExactArgs(1), completeSpace
	}
	set.Args, remove.Args = cobra.ExactArgs(2), cobra.ExactArgs(2)
	return group("keypad", "codes at the doors", list, set, remove, lift)
}

func codesPath(s space) string { return "/meetingspace/" + url.PathEscape(s.ID) + "/unlock-codes" }

// codesOf asks for the codes of a door and how its keypad stands.
func codesOf(cmd *cobra.Command, c *client, s space) (keypadState, error) {
	var answer struct {
		Response keypadState `json:"response"`
	}
	err := c.call(cmd.Context(), http.MethodGet, codesPath(s), nil, &answer)
	return answer.Response, err
}

func listCodes(cmd *cobra.Command, c *client, args []string) error {
	s, err := c.findRoom(cmd, args[0])
	if err != nil {
		return err
	}
	keypad, err := codesOf(cmd, c, s.space)
	if err != nil {
		return err
	}
	err = output(cmd, keypad, "NAME DIGITS FROM UNTIL USED STATE", func(row func(...string)) {
		for _, code := range keypad.Codes {
			state := "opens"
			if !code.Opens {
				state = code.Reason
			}
			row(code.Name, fmt.Sprint(code.Digits), s.clock.Minute(code.From), s.clock.Minute(code.Until), s.clock.Minute(code.LastUsed), state)
		}
	})
	if wait := keypad.LockedOutS; err == nil && wait > 0 {
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

func setCode(cmd *cobra.Command, c *client, args []string) error {
	s, err := c.findRoom(cmd, args[0])
	if err != nil {
		return err
	}
	ask := struct {
		Name  string    `json:"name"`
		Code  string    `json:"code,omitempty"`
		Until time.Time `json:"valid_until,omitzero"`
	}{Name: args[1]}
	if life, _ := cmd.Flags().GetDuration("for"); life < 0 {
		return fail(exitUsage, "--for %s is in the past: want how long from now, as 8h or 7d", life)
	} else if life > 0 {
		ask.Until = s.clock.Now.Add(life).UTC().Truncate(time.Second)
	}
	if ask.Code, err = firstLine(cmd, "code-file"); err != nil {
		return err
	}
	var answer struct {
		Response struct {
			unlockCode
			Made string `json:"code,omitempty"`
		} `json:"response"`
	}
	if err := c.call(cmd.Context(), http.MethodPut, codesPath(s.space), ask, &answer); err != nil {
		return err
	}
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), answer.Response)
	}
	made := answer.Response
	if made.Made != "" {
		if _, err := fmt.Fprintln(cmd.OutOrStdout(), made.Made); err != nil {
			return err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "code %s of %s is shown only now\n", show.Plain(made.Name), show.Plain(s.Name))
		return nil
	}
	digits := "keeps its digits"
	if ask.Code != "" {
		digits = "has the digits of the file"
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "code %s of %s %s\n", show.Plain(made.Name), show.Plain(s.Name), digits)
	return err
}

func deleteCode(cmd *cobra.Command, c *client, args []string) error {
	s, err := c.space(cmd, args[0])
	if err != nil {
		return err
	}
	keypad, err := codesOf(cmd, c, s)
	if err != nil {
		return err
	}
	for _, code := range keypad.Codes {
		if code.ID != args[1] && code.Name != args[1] {
			continue
		}
		if err := c.call(cmd.Context(), http.MethodDelete, codesPath(s)+"/"+url.PathEscape(code.ID), nil, nil); err != nil {
			return err
		}
		if wantsJSON(cmd) {
			return show.JSON(cmd.OutOrStdout(), map[string]any{"id": code.ID, "deleted": true})
		}
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "code %s of %s is deleted\n", show.Plain(code.Name), show.Plain(s.Name))
		return err
	}
	return fail(exitRefused, "%s has no code %q: see roomgate keypad list %s", s.Name, args[1], args[0])
}
