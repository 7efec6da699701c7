package main

import (
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"roomgate/cmd/roomgate/show"
)

const signInHelp = `Signs a person in as an app does: first it asks for a one-time password, which the
gateway sends by mail; with --otp it gives that back for a token. The token goes to
the standard output, to be sent as "Authorization: Bearer TOKEN".`

func newSignIn() *cobra.Command {
	cmd := &cobra.Command{Use: "sign-in EMAIL", Short: "sign in with a one-time password, as apps do", Args: cobra.ExactArgs(1), RunE: asking(signIn),
		Long: signInHelp, Example: "  roomgate user sign-in ada@example.com\n  roomgate user sign-in ada@example.com --otp 123456"}
	cmd.Flags().String("otp", "", "the one-time `PASSWORD` from the mail")
	return cmd
}

func signIn(cmd *cobra.Command, c *client, args []string) error {
	ask := map[string]string{"email": args[0]}
	if ask["otp"] = text(cmd, "otp"); ask["otp"] == "" {
		return askForPassword(cmd, c, args[0])
	}
	var answer struct {
		Data struct {
			Token string `json:"access_token"`
			User  struct {
				ID, Email, Name string
			} `json:"user"`
		} `json:"data"`
	}
	if err := c.call(cmd.Context(), http.MethodPost, "/api/v1/auth/otp/verify", ask, &answer); err != nil {
		return err
	}
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), answer.Data)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s is signed in; the token, for Authorization: Bearer:\n", show.Plain(answer.Data.User.Email))
	_, err := fmt.Fprintln(cmd.OutOrStdout(), answer.Data.Token)
	return err
}

func askForPassword(cmd *cobra.Command, c *client, email string) error {
	var answer struct {
		Data struct {
			Message string `json:"message"`
			Seconds int    `json:"expires_in"`
		} `json:"data"`
	}
	if err := c.call(cmd.Context(), http.MethodPost, "/api/v1/auth/otp/request", map[string]string{"email": email}, &answer); err != nil {
		return err
	}
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), answer.Data)
	}
	if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n", show.Plain(answer.Data.Message)); err != nil {
		return err
	}
	_, err := fmt.Fprintln(cmd.ErrOrStderr(), "then give it back: the same command with --otp PASSWORD; that of a demo is shown by roomgate sim letters")
	return err
}
