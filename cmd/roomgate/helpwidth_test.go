package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// TestHelpWidth: what a command says at length fits a terminal of 80 columns. An
// indented line is an example, which is copied whole.
func TestHelpWidth(t *testing.T) {
	t.Parallel()
	var look func(*cobra.Command)
	look = func(cmd *cobra.Command) {
		for line := range strings.Lines(cmd.Long) {
			if line = strings.TrimRight(line, "\n"); utf8.RuneCountInString(line) > 80 && line[0] != ' ' {
				t.Errorf("%s --help has a line of %d columns: %s", cmd.CommandPath(), utf8.RuneCountInString(line), line)
			}
		}
		for _, below := range cmd.Commands() {
			look(below)
		}
	}
	look(newRoot())
}
