package main

import (
	"strings"

	"github.com/spf13/cobra"

	"roomgate/cmd/roomgate/show"
)

// nameArguments lets a command and all below it say which arguments they take,
// where the library would say how many.
func nameArguments(cmd *cobra.Command) {
	for _, below := range cmd.Commands() {
		nameArguments(below)
	}
	right := cmd.Args
	if right == nil {
		return
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if right(cmd, args) == nil {
			return nil
		}
		_, wanted, some := strings.Cut(cmd.Use, " ")
		switch {
		case !some:
			return fail(exitUsage, "%s takes no argument, not %q", cmd.CommandPath(), args[0])
		case len(args) == 0:
			return fail(exitUsage, "%s needs %s", cmd.CommandPath(), wanted)
		}
		return fail(exitUsage, "%s takes %s, not %s", cmd.CommandPath(), wanted, show.Count(len(args), "argument"))
	}
}
