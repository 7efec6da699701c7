package main

import (
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"roomgate/agent/journal"

	"roomgate/cmd/roomgate/show"
)

// newLog is the log of a command that runs a gateway.
func newLog(cmd *cobra.Command) *slog.Logger {
	return journal.New(journal.Options{Stderr: cmd.ErrOrStderr(), People: show.IsTerminal(os.Stderr)})
}
