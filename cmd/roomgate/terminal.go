package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"roomgate/agent/acceptance"
)

// terminal is where a person is told and asked. What it says does not mix
// with JSON on the standard output.
type terminal struct {
	in  *bufio.Reader
	out io.Writer
}

func newTerminal(cmd *cobra.Command) *terminal {
	t := &terminal{in: bufio.NewReaderSize(cmd.InOrStdin(), 4<<10), out: cmd.OutOrStdout()}
	if wantsJSON(cmd) {
		t.out = cmd.ErrOrStderr()
	}
	return t
}

// told prints a step.
func (t *terminal) told(deviceType string, s acceptance.Step) {
	line := fmt.Sprintf("%-8s%s", s.Result, deviceType)
	for _, w := range []string{s.SubDevice, s.Name, s.Seen, s.Note} {
		if w != "" {
			line += ": " + w
		}
	}
	if s.LatencyMS > 0 {
		line += fmt.Sprintf(" (%.0f ms)", max(s.LatencyMS, 1))
	}
	fmt.Fprintln(t.out, plain(line))
}

// ask puts a question until it is answered.
func (t *terminal) ask(ctx context.Context, question string) (acceptance.Answer, error) {
	for {
		line, err := t.line(ctx, question+" [y/n/s] ")
		if err != nil {
			return acceptance.Answer{}, err
		}
		if a, ok := parseAnswer(line); ok {
			return a, nil
		}
		fmt.Fprintln(t.out, "answer y for yes, n for no or s for skip, with a note behind it if you like")
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
func (t *terminal) name(ctx context.Context) (string, error) {
	for {
		line, err := t.line(ctx, "who signs? ")
		if a, slip := parseAnswer(line); err != nil || !slip || a.Note != "" { // "S. Installer" is a name
			return line, err
		}
	}
}

// longestLine bounds what a person may say.
const longestLine = 1000

// line asks for a line. A reader cannot be told to stop, so it is left behind
// when ctx ends, which ends the program.
func (t *terminal) line(ctx context.Context, prompt string) (string, error) {
	fmt.Fprint(t.out, prompt)
	type said struct {
		line string
		err  error
	}
	heard := make(chan said, 1)
	go func() {
		line, err := t.in.ReadString('\n')
		if errors.Is(err, io.EOF) && line != "" {
			err = nil
		}
		heard <- said{line, err}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(t.out)
		return "", context.Cause(ctx)
	case s := <-heard:
		if errors.Is(s.err, io.EOF) {
			fmt.Fprintln(t.out)
			return "", fail(exitFailed, "nobody answers here: with --yes only what a machine can measure is tried")
		}
		line := strings.TrimSpace(s.line)
		return line[:min(len(line), longestLine)], s.err
	}
}
