package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"roomgate/agent/atomicfile"
	"roomgate/agent/config"
	"roomgate/agent/seed"
	"roomgate/agent/setup"
	"roomgate/cmd/roomgate/show"
)

const seedHelp = `Takes the seed that roomgate image seed, or an editor, put on the boot partition
of this gateway's card: roomgate-seed.yaml in /boot/firmware or /boot, a piece
of the configuration in its own keys. It is checked, becomes the configuration
(what was there before is kept as FILE.before), its passwords go to files that
root alone reads, and the seed is renamed to roomgate-seed.yaml.done and
overwritten without them. A flash card may keep overwritten data where only who
takes its chips apart finds it.

With a mistake nothing changes: each is named with line and column, in the
journal and on the attached screen, there with --issue above the login, which
begins with an empty screen. roomgate-seed.service runs this at every start;
without a seed it does nothing.`

func newSeed() *cobra.Command {
	cmd := &cobra.Command{Use: "seed", Short: "take the seed on the boot partition as the configuration",
		Long: seedHelp, Args: cobra.NoArgs, RunE: action(runSeed)}
	f := cmd.Flags()
	f.String("config", "", withVariable("configuration `FILE`", "config"))
	f.String("boot", "", "`DIR` of the boot partition, instead of looking for it")
	f.String("screen", "", "`TTY` on which a person sees the outcome too, as /dev/tty1")
	f.String("issue", "", "`FILE` for the mistakes, which logins show above themselves, see agetty(8)")
	return cmd
}

func runSeed(cmd *cobra.Command, _ []string) error {
	out := io.Writer(cmd.OutOrStdout())
	if path := text(cmd, "screen"); path != "" {
		screen, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err == nil {
			defer screen.Close()
			out = io.MultiWriter(out, screen)
		} // a gateway without a screen starts all the same
	}
	if path := text(cmd, "issue"); path != "" {
		_ = os.Remove(path) // of the start before
	}
	folder := text(cmd, "boot")
	plan, err := heard(cmd.Context(), func() (*setup.Plan, error) {
		if folder == "" {
			folder = seed.Find("/")
		}
		if folder == "" {
			return nil, nil
		}
		return takeSeed(cmd, folder)
	})
	switch {
	case cmd.Context().Err() != nil && err != nil:
		return err // whoever has stopped it wants nothing else
	case err != nil:
		sayWrong(out, folder, err)
		return errors.Join(invalid(err), issue(text(cmd, "issue"), folder, err))
	case folder == "":
		fmt.Fprintf(cmd.OutOrStdout(), "there is no %s in /boot/firmware or /boot\n", seed.Name)
		return nil
	case plan == nil:
		fmt.Fprintf(cmd.OutOrStdout(), "there is no %s in %s\n", seed.Name, folder)
		return nil
	}
	fmt.Fprintf(out, "roomgate: the seed is taken: gateway %s, %s; passwords are off the boot partition\n", plan.Config.Gateway.ID, spacesOf(plan.Config))
	return nil
}

// takeSeed makes the seed in a folder the configuration.
func takeSeed(cmd *cobra.Command, folder string) (*setup.Plan, error) {
	o, err := setupOptions(configFile(cmd))
	if err != nil {
		return nil, err
	}
	o.Timezone = "" // the card's is that of who made the image
	o.Judge = impossible(cmd.Context())
	return seed.Take(folder, o, serviceGroup())
}

// issue puts what is wrong with the seed into a file that the login of the
// attached screen shows, in which a backslash begins a command.
func issue(path, folder string, wrong error) error {
	if path == "" {
		return nil
	}
	var said strings.Builder
	sayWrong(&said, folder, wrong)
	return atomicfile.Write(path, []byte(strings.ReplaceAll(said.String(), `\`, `\\`)+"\n"), nil)
}

// sayWrong tells a person at the screen what to do.
func sayWrong(out io.Writer, folder string, err error) {
	var problems *config.Errors
	if !errors.As(err, &problems) {
		fmt.Fprintf(out, "roomgate: the seed could not be taken: %v\n", err)
		return
	}
	fmt.Fprintf(out, "roomgate: the seed in %s has %s, nothing has changed:\n", folder, show.Count(len(problems.Problems), "mistake"))
	for _, p := range problems.Problems {
		fmt.Fprintln(out, "  "+show.Plain(strings.TrimPrefix(p.String(), folder+"/")))
	}
	fmt.Fprintln(out, "roomgate: correct it on the card, and switch on again")
}
