package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"roomgate/agent/acceptance"
	"roomgate/cmd/roomgate/show"
)

func TestParseAnswer(t *testing.T) {
	for line, want := range map[string]acceptance.Answer{
		"y":                       {Result: acceptance.Passed},
		" YES \n":                 {Result: acceptance.Passed},
		"n the ring stays dark\n": {Result: acceptance.Failed, Note: "the ring stays dark"},
		"no, it hums":             {Result: acceptance.Failed, Note: "it hums"},
		"s  later":                {Result: acceptance.Skipped, Note: "later"},
	} {
		if got, ok := parseAnswer(line); !ok || got != want {
			t.Errorf("%q is %+v, %v, want %+v", line, got, ok, want)
		}
	}
	for _, line := range []string{"", "maybe", "yesterday", "1"} {
		if got, ok := parseAnswer(line); ok {
			t.Errorf("%q is %+v", line, got)
		}
	}
}

// Who interrupts is not kept waiting for an answer.
func TestTerminalIsInterrupted(t *testing.T) {
	in, typed := io.Pipe()
	defer typed.Close()
	term := walker{show.NewTerminal(in, io.Discard)}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := term.ask(ctx, "there?"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// One answer too many does not sign.
func TestNobodyIsCalledYes(t *testing.T) {
	term := walker{show.NewTerminal(strings.NewReader("y\nS. Installer\n"), io.Discard)}
	if name, err := term.name(t.Context()); err != nil || name != "S. Installer" {
		t.Errorf("signed by %q, %v", name, err)
	}
}

// What a device says does not steer the terminal of the one who walks.
func TestToldIsPlain(t *testing.T) {
	var out strings.Builder
	walker{&show.Terminal{Out: &out}}.told("lock", acceptance.Step{Name: "open", Result: acceptance.Failed, Note: "\x1b[2J"})
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("printed %q", out.String())
	}
}
