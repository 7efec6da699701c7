package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"roomgate/agent/acceptance"
	"roomgate/cmd/roomgate/show"
)

// walker is who walks a room for its acceptance, at a terminal.
type walker struct{ *show.Terminal }

// told prints a step.
func (w walker) told(deviceType string, s acceptance.Step) {
	line := fmt.Sprintf("%-8s%s", s.Result, deviceType)
	for _, part := range []string{s.SubDevice, s.Name, s.Seen, s.Note} {
		if part != "" {
			line += ": " + part
		}
	}
	if s.LatencyMS > 0 {
		line += fmt.Sprintf(" (%.0f ms)", max(s.LatencyMS, 1))
	}
	fmt.Fprintln(w.Out, show.Plain(line))
}

// ask puts a question until it is answered.
func (w walker) ask(ctx context.Context, question string) (acceptance.Answer, error) {
	for {
		line, err := w.line(ctx, question+" [y/n, s skips] ")
		if err != nil {
			return acceptance.Answer{}, err
		}
		if a, ok := parseAnswer(line); ok {
			return a, nil
		}
		fmt.Fprintln(w.Out, "answer y for yes, n for no or s for skip, with a note behind it if you like")
	}
}

// parseAnswer reads "n the ring stays dark".
func parseAnswer(line string) (acceptance.Answer, bool) {
	word, note, _ := strings.Cut(strings.TrimSpace(line), " ")
	results := map[string]acceptance.Result{"y": acceptance.Passed, "yes": acceptance.Passed,
		"n": acceptance.Failed, "no": acceptance.Failed, "s": acceptance.Skipped, "skip": acceptance.Skipped}
	r, ok := results[strings.ToLower(strings.TrimRight(word, ",.:"))]
	return acceptance.Answer{Result: r, Note: strings.TrimSpace(note)}, ok
}

// name asks who signs. One answer too many is nobody's name.
func (w walker) name(ctx context.Context) (string, error) {
	for {
		line, err := w.line(ctx, "who signs? ")
		if a, slip := parseAnswer(line); err != nil || !slip || a.Note != "" { // "S. Installer" is a name
			return line, err
		}
	}
}

// line asks for a line, and says what can be done where nobody answers.
func (w walker) line(ctx context.Context, prompt string) (string, error) {
	line, err := w.Line(ctx, prompt)
	if errors.Is(err, show.ErrNobody) {
		err = fail(exitFailed, "%w: with --yes only what a machine can measure is tried", err)
	}
	return line, err
}
