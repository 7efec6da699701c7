package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"roomgate/agent/atomicfile"
	"roomgate/agent/claim"
	"roomgate/agent/config"
	"roomgate/agent/health"

	"roomgate/cmd/roomgate/show"
)

const (
	// screenFile is what the attached screen shows above its login, in the
	// runtime directory: an issue file of agetty(8). systemd/roomgate.tmpfiles
	// leads the getty there, roomgate-screen.path makes it look again.
	screenFile = "claim.issue"
	// cleared is a screen on which nothing is left of a code that is used or too
	// old (ECMA-48 section 8.3.39).
	cleared = "\x1b[H\x1b[2J"
	// screenPoll is how often the gateway is asked for a new code or address.
	screenPoll = 10 * time.Second
	// screenExamine is how often the gateway is examined for it.
	screenExamine = time.Minute
)

// screen keeps the attached screen in step with the gateway: who and where it is, its
// claim, and how many findings fail.
type screen struct {
	claim   *claim.Claim
	name    config.Gateway
	path    string
	log     *slog.Logger
	page    func() string             // where a browser of the building finds it; empty: nowhere
	failing func(context.Context) int // findings of the doctor
}

// run writes the screen whenever what it shows changes, until ctx ends.
func (s screen) run(ctx context.Context) error {
	shown, failed := "?", -1 // by who ran before, and nothing examined yet
	var examined time.Time
	for ctx.Err() == nil {
		changed := s.claim.Changed()
		if text := s.text(s.claim.Status(), failed); text != shown {
			if err := s.show(text); err != nil {
				s.log.Warn("cannot write the attached screen: see roomgate claim and roomgate doctor", "error", err)
			} else {
				shown = text
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
		case <-time.After(screenPoll):
		}
		if ctx.Err() == nil && time.Since(examined) >= screenExamine {
			failed, examined = s.failing(ctx), time.Now()
		}
	}
	return s.show("")
}

// text is an issue file, in which a backslash begins a command. What matters most
// stands last: a small screen scrolls.
func (s screen) text(g claim.Status, failed int) string {
	words := ""
	if g.State != claim.Off {
		words = claimShown{g, g.ClaimedAt}.text(true)
	}
	return cleared + strings.ReplaceAll(words+s.line(failed), `\`, `\\`) + "\n"
}

// line is who and where the gateway is, and how it is; below 0 nobody has looked yet.
func (s screen) line(failed int) string {
	who := s.name.ID
	if s.name.Name != "" {
		who += ", " + show.Plain(s.name.Name)
	}
	where := cmp.Or(s.page(), "no address in a network yet")
	switch {
	case failed < 0:
		return fmt.Sprintf("%s: %s\n", who, where)
	case failed == 0:
		return fmt.Sprintf("%s: %s, nothing fails\n", who, where)
	}
	return fmt.Sprintf("%s: %s, %s in %s\n", who, where, show.Count(failed, "red line"), sudo("roomgate doctor"))
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

// tellEnd leaves on the attached screen of a service why it has ended by itself, as by a
// mistake in its configuration. A start that comes further replaces it.
func tellEnd(cmd *cobra.Command, ended error) error {
	data := dataFolder(cmd)
	dir, _ := socketPlace(data)
	if ended == nil || dir == data {
		return nil // it was stopped, or it is no service
	}
	file := screen{path: filepath.Join(dir, screenFile)}
	text := cleared + strings.ReplaceAll(endWords(config.BasicsIn(configFile(cmd)).ID, ended), `\`, `\\`) + "\n"
	if shown, err := os.ReadFile(file.path); err == nil && string(shown) == text {
		return nil // of the start before: who is about to log in is not disturbed again
	}
	return file.show(text)
}

// endWords say which gateway does not run, where it is, and the first reason.
func endWords(id string, ended error) string {
	why := oneLine(ended.Error())
	var problems *config.Errors
	if errors.As(ended, &problems) && len(problems.Problems) > 1 {
		why = fmt.Sprintf("%s, and %d more", problems.Problems[0], len(problems.Problems)-1)
	}
	if id == "" {
		id, _ = os.Hostname()
	}
	nowhere := config.Default()
	where := cmp.Or(strings.Join(health.NetworkOf(&nowhere).HTTP.Addresses, " "), "no address in a network yet")
	return fmt.Sprintf("%s: %s, the gateway does not run: %s\n%s says how to mend it\n", show.Plain(id), where, show.Plain(why), sudo("roomgate doctor"))
}
