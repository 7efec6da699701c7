package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"roomgate/agent/config"
	"roomgate/cmd/roomgate/show"
)

// TestPlainWords: what a file or a device says steers no terminal, wherever it is told.
func TestPlainWords(t *testing.T) {
	const steered = "At\x1b[31mlas\a"
	for name, tell := range map[string]func(out *strings.Builder){
		"an error": func(out *strings.Builder) {
			report(out, &cobra.Command{}, fail(exitFailed, "1 of 2 failed: %s", steered))
		},
		"problems": func(out *strings.Builder) {
			report(out, &cobra.Command{}, &config.Errors{Problems: []config.Problem{{File: steered, Message: "is wrong"}}})
		},
		"the demo": func(out *strings.Builder) { (&gateway{out: out}).say("  %s", steered) },
		"setup": func(out *strings.Builder) {
			_, _ = show.NewTerminal(strings.NewReader("\n"), out).Line(t.Context(), steered)
		},
	} {
		var out strings.Builder
		if tell(&out); strings.ContainsAny(out.String(), "\x1b\a") || !strings.Contains(out.String(), "At?[31mlas?") {
			t.Errorf("%s: %q", name, out.String())
		}
	}
	if err := (question{}).judge(steered); err == nil || errors.Unwrap(err) != nil {
		t.Errorf("an answer with it: %v", err)
	}
	if err := (question{secret: true}).judge(steered); err != nil {
		t.Error(err)
	}
}
