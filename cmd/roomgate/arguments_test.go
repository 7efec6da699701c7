package main

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestArgumentsAreNamed(t *testing.T) {
	for line, want := range map[string]string{
		"version 2":                 `roomgate version takes no argument, not "2"`,
		"update keygen":             "roomgate update keygen needs FILE",
		"update keygen a b":         "roomgate update keygen takes FILE, not 2 arguments",
		"device action aurora lock": "roomgate device action takes SPACE DEVICE [SUB-DEVICE] ACTION [VALUE | NAME=VALUE...], not 2 arguments",
	} {
		root := newRoot()
		root.SetArgs(strings.Fields(line))
		root.SetOut(io.Discard)
		if err := root.ExecuteContext(t.Context()); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}

// Who takes arguments names them.
func TestEveryArgumentHasAName(t *testing.T) {
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		_, named, _ := strings.Cut(cmd.Use, " ")
		if cmd.Args != nil && !cmd.HasSubCommands() && (cmd.Args(cmd, nil) != nil || cmd.Args(cmd, []string{"a"}) == nil) && named == "" {
			t.Errorf("%s takes arguments, and its usage does not name them", cmd.CommandPath())
		}
		for _, below := range cmd.Commands() {
			walk(below)
		}
	}
	walk(newRoot())
}
