package main

import (
	"log/slog"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"roomgate/agent/journal"
)

// newLog is the log of a command that runs a gateway.
func newLog(cmd *cobra.Command) *slog.Logger {
	return journal.Open(journal.Options{Stderr: cmd.ErrOrStderr(), People: isTerminal(os.Stderr)})
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
