// Package journal writes the program's log: for people where people read, to
// the system's journal with its own fields where journald reads, and as JSON
// where another machine does. It counts a line that is repeated instead of
// writing it each time.
package journal

import (
	"io"
	"log/slog"

	stream "github.com/coreos/go-systemd/v22/journal"
)

// Options say where a log is written.
type Options struct {
	Stderr io.Writer // takes the lines, and what the journal does not take
	People bool      // people read Stderr: plain text, whatever the process's own standard error is
	Quiet  bool      // people read only what is wrong: warnings and errors
}

// New returns a log. It opens no connection before the first line. Call Flush
// before the program ends.
func New(o Options) *slog.Logger {
	var to slog.Handler = slog.NewJSONHandler(o.Stderr, &slog.HandlerOptions{ReplaceAttr: visibleAttr})
	switch isJournal, err := stream.StderrIsJournalStream(); {
	case o.People:
		least := slog.LevelInfo
		if o.Quiet {
			least = slog.LevelWarn
		}
		to = slog.NewTextHandler(o.Stderr, &slog.HandlerOptions{Level: least})
	case err == nil && isJournal:
		to = newHandler(socket, o.Stderr)
	}
	return slog.New(limited(to))
}

// visibleAttr keeps from JSON what text and the journal's own fields do not show
// either.
func visibleAttr(_ []string, a slog.Attr) slog.Attr {
	if k := a.Value.Kind(); k == slog.KindString || k == slog.KindAny {
		if text := a.Value.String(); visible(text) != text {
			return slog.String(a.Key, visible(text))
		}
	}
	return a
}

// Flush writes what a log of New still holds back. It leaves any other log
// alone.
func Flush(log *slog.Logger) {
	if h, ok := log.Handler().(*limiter); ok {
		h.lines.flush()
	}
}
