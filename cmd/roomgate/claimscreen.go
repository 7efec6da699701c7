package main

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"time"

	"roomgate/agent/atomicfile"
	"roomgate/agent/claim"
)

const (
	// screenFile is what the attached screen shows above its login, in the
	// runtime directory: an issue file of agetty(8). systemd/roomgate.tmpfiles
	// leads the getty there, roomgate-screen.path makes it look again.
	screenFile = "claim.issue"
	// cleared is a screen on which nothing is left of a code that is used or too
	// old (ECMA-48 section 8.3.39).
	cleared = "\x1b[H\x1b[2J"
	// screenPoll is how often is looked whether another code is to be shown.
	screenPoll = 10 * time.Second
)

// screen keeps the attached screen in step with the gateway's claim.
type screen struct {
	claim *claim.Claim
	path  string
	log   *slog.Logger
}

// run shows the claim code as long as the gateway waits to be claimed, and then
// whom it belongs to.
func (s screen) run(ctx context.Context) error {
	shown := "?" // by who ran before
	for ctx.Err() == nil {
		changed := s.claim.Changed()
		if text := screenText(s.claim.Status()); text != shown {
			if err := s.show(text); err != nil {
				s.log.Warn("the claim code cannot be put on the attached screen: see roomgate claim", "error", err)
			} else {
				shown = text
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
		case <-time.After(screenPoll):
		}
	}
	return s.show("")
}

// screenText is an issue file, in which a backslash begins a command.
func screenText(g claim.Status) string {
	if g.State == claim.Off {
		return ""
	}
	return cleared + strings.ReplaceAll(claimShown{g, g.ClaimedAt}.text(true), `\`, `\\`) + "\n"
}

// show replaces the file as a whole; without a text there is none.
func (s screen) show(text string) error {
	if text == "" {
		if err := os.Remove(s.path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	return atomicfile.Write(s.path, []byte(text), nil)
}
