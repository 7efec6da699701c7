package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"roomgate/cmd/roomgate/show"
)

func wantsJSON(cmd *cobra.Command) bool { return text(cmd, "output") == string(show.FormatJSON) }

// output prints v as JSON, or the table that lines makes, as the user wants.
func output(cmd *cobra.Command, v any, header string, lines func(row func(cells ...string))) error {
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), v)
	}
	return show.Table(cmd.OutOrStdout(), header, lines)
}

// outputSome is output of a list of n. Where it is empty the standard error says so, and
// how the first one is made.
func outputSome(cmd *cobra.Command, v any, n int, none, header string, lines func(row func(cells ...string))) error {
	err := output(cmd, v, header, lines)
	if n == 0 && err == nil && !wantsJSON(cmd) {
		_, err = fmt.Fprintln(cmd.ErrOrStderr(), none)
	}
	return err
}

// newTerminal is that of a command. What it says does not mix with JSON on the
// standard output.
func newTerminal(cmd *cobra.Command) *show.Terminal {
	if wantsJSON(cmd) {
		return show.NewTerminal(cmd.InOrStdin(), cmd.ErrOrStderr())
	}
	return show.NewTerminal(cmd.InOrStdin(), cmd.OutOrStdout())
}

// newProgress says on the standard error how far the work of a command is.
func newProgress(cmd *cobra.Command) *show.Progress {
	return show.NewProgress(show.ProgressOptions{Out: cmd.ErrOrStderr(), Live: show.IsTerminal(os.Stderr)})
}
