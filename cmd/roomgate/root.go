package main

import (
	"strings"

	"github.com/spf13/cobra"

	"roomgate/cmd/roomgate/show"
)

const rootHelp = `Roomgate drives the hardware of a building's meeting rooms, serves it on the
building's own network and tells the cloud about it.

"run" is the gateway, "demo" a simulated building. The other commands talk to
the gateway on this machine through its control socket, or with --url and --key
to another one. A meeting space is named by id or by name.

A flag with an environment variable beside it can be set by that variable too.
A flag beats the environment, the environment beats the configuration file, the
file beats the default.

Exit codes:
  0  done
  1  failed
  2  wrong usage
  3  configuration invalid
  4  gateway not reachable
  5  refused by the gateway`

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:               "roomgate",
		Short:             "the gateway of a building's meeting rooms",
		Long:              rootHelp,
		Args:              cobra.ArbitraryArgs,
		RunE:              needsOneBelow,
		SilenceErrors:     true,
		SilenceUsage:      true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return fromEnvironment(cmd.Flags()) },
	}
	root.Version = version
	root.SetVersionTemplate(versionLines())
	root.Flags().Bool("version", false, "show the version") // without the letter that cobra gives it
	root.AddCommand(newRun(), newReload(), newDemo(), newCheckConfig(), newSetup(), newSeed(), newImage(), newClaim(), newConsole(), newDoctor(), newDevice(), newSpace(), newKeypad(), newBooking(), newEvents(), newKey(), newUser(), newOrganization(), newWebhook(), newMessage(), newRule(), newSim(), newCloud(), newFleetSim(), newClock(), newTLS(),
		newBackup(), newRestore(), newFactoryReset(), newSupportBundle(), newUpdate(), newStore(), newVersion(), newMan())
	nameArguments(root)
	foldHelp(root)
	return root
}

// foldHelp lets what commands say at length fit a terminal of 80 columns.
func foldHelp(cmd *cobra.Command) {
	cmd.Long = show.Fold(cmd.Long, 80)
	for _, below := range cmd.Commands() {
		foldHelp(below)
	}
}

// group is a command that only has further ones below it.
func group(use, short string, below ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.ArbitraryArgs, RunE: needsOneBelow}
	cmd.AddCommand(below...)
	return cmd
}

// needsOneBelow is what a group answers when it is called itself.
func needsOneBelow(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		if err := cmd.Help(); err != nil || cmd.Parent() == nil {
			return err
		}
		return fail(exitUsage, "%s needs a command", cmd.CommandPath())
	}
	cmd.SuggestionsMinimumDistance = 2
	nearest := cmd.SuggestionsFor(args[0])
	if len(nearest) == 0 {
		return fail(exitUsage, "%s has no command %q", cmd.CommandPath(), args[0])
	}
	return fail(exitUsage, "%s has no command %q, nearest known is %s", cmd.CommandPath(), args[0], strings.Join(nearest, " or "))
}
