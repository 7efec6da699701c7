package main

import (
	"io"
	"log/slog"
	"os"

	"github.com/coreos/go-systemd/v22/journal"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

// newLog writes for people where people read, to the journal with its own
// fields where the journal reads, and JSON where another machine does. A line
// that comes again and again is counted.
func newLog(cmd *cobra.Command) *slog.Logger {
	var to slog.Handler = slog.NewJSONHandler(cmd.ErrOrStderr(), nil)
	switch isJournal, err := journal.StderrIsJournalStream(); {
	case isTerminal(os.Stderr):
		to = slog.NewTextHandler(cmd.ErrOrStderr(), nil)
	case err == nil && isJournal:
		to = newJournal(journalSocket, cmd.ErrOrStderr())
	}
	return slog.New(limited(to))
}

// demoLog is that of a demo, which people read.
func demoLog(w io.Writer) *slog.Logger { return slog.New(limited(slog.NewTextHandler(w, nil))) }

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
