package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"roomgate/agent/atomicfile"
	"roomgate/agent/backup"
	"roomgate/agent/config"
	"roomgate/agent/seed"

	"roomgate/cmd/roomgate/show"
)

const factoryResetHelp = `Removes everything that this gateway knows: the database with bookings, people,
keys, codes, webhooks and the log, its snapshots and what was set aside, the
device secret, what a restore has kept, and installed releases, so that the one
of the package runs again. It is refused while the gateway runs. The
configuration stays, unless --all: that removes the file, the one before it, the
passwords in credentials/ beside it, and what a seed has left on the boot
partition. Files elsewhere that it names, as certificates, are listed and stay.

Files are removed, not overwritten: flash writes to another place than the one
that it reads, so overwriting would only wear the card. Until the card reuses
them, old pages can be read with special tools. If the card leaves the house,
run fstrim on its file system, or better destroy it.

What the cloud keeps of the gateway is the cloud's: with the same configuration
the next start takes from it what it manages. A backup elsewhere is not touched,
nor is the journal, which is the machine's and names rooms and devices:
journalctl --rotate --vacuum-time=1s empties it.`

func newFactoryReset() *cobra.Command {
	cmd := &cobra.Command{Use: "factory-reset", Short: "remove everything that this gateway knows",
		Long: factoryResetHelp, Args: cobra.NoArgs, RunE: action(factoryReset)}
	cmd.Flags().String("config", "", withVariable("configuration `FILE`", "config"))
	cmd.Flags().String("data", "", withVariable("`DIR` of the database; else the one that the configuration names", "data"))
	cmd.Flags().Bool("yes", false, "do it")
	cmd.Flags().Bool("all", false, "the configuration and its passwords too")
	return cmd
}

func factoryReset(cmd *cobra.Command, _ []string) error {
	data, err := resetPlace(cmd)
	if err != nil {
		return err
	}
	if _, err := os.Stat(data); errors.Is(err, fs.ErrNotExist) {
		return fail(exitFailed, "there is no %s: name the directory with --data", data)
	}
	if yes, _ := cmd.Flags().GetBool("yes"); !yes {
		return fail(exitUsage, "this removes everything that the gateway in %s knows, for good: say --yes", data)
	}
	lock, err := lockGateway(data)
	if err != nil {
		return err
	}
	defer lock.Close()
	ours, others, err := traces(data)
	if err != nil {
		return err
	}
	if len(ours) == 0 {
		fmt.Fprintf(cmd.OutOrStdout(), "no gateway has left anything in %s\n", data)
	} else if err := backup.Erase(data, ours); err != nil {
		return fmt.Errorf("not everything is removed, try again: %w", err)
	}
	for _, path := range ours {
		fmt.Fprintf(cmd.OutOrStdout(), "removed %s\n", path)
	}
	if len(others) > 0 {
		fmt.Fprintf(cmd.OutOrStdout(), "left, it is not the gateway's: %s\n", show.Plain(strings.Join(others, ", ")))
	}
	if err := resetConfiguration(cmd); err != nil {
		return err
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), "removed is not overwritten, which flash would not do: destroy a card that leaves the house, or run fstrim on it")
	return err
}

// resetPlace is the data directory. A configuration that cannot be read does
// not keep anybody from a reset.
func resetPlace(cmd *cobra.Command) (string, error) {
	if dir := text(cmd, "data"); dir != "" {
		return filepath.Abs(dir)
	}
	c, err := loadConfig(cmd)
	if err != nil {
		return "", fmt.Errorf("%w; or name the directory with --data", err)
	}
	return c.Data, nil
}

// resetConfiguration removes the configuration if that is wanted, and says
// which files it names that stay.
func resetConfiguration(cmd *cobra.Command) error {
	path := configFile(cmd)
	raw, err := atomicfile.Read(path, os.O_RDONLY, maxGiven)
	if err = ignoreMissing(err); err != nil {
		return err
	}
	named := config.NamedFiles(raw)
	if all, _ := cmd.Flags().GetBool("all"); all {
		if err := removeConfiguration(cmd, path); err != nil {
			return err
		}
	} else if raw != nil {
		fmt.Fprintf(cmd.OutOrStdout(), "left: %s; --all removes it with its passwords\n", path)
	}
	named = slices.DeleteFunc(named, func(name string) bool {
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(path), name)
		}
		_, err := os.Stat(name)
		return err != nil
	})
	if len(named) > 0 {
		fmt.Fprintf(cmd.OutOrStdout(), "left, the configuration names them: %s\n", show.Plain(strings.Join(named, ", ")))
	}
	return nil
}

// removeConfiguration removes what setup and seeds write: the passwords, the
// configuration before, what was cut off, and last the configuration, by which a
// reset that was cut off is done again.
func removeConfiguration(cmd *cobra.Command, path string) error {
	folder := filepath.Join(filepath.Dir(path), "credentials")
	entries, err := os.ReadDir(folder)
	if err = ignoreMissing(err); err != nil {
		return err
	}
	var gone []string
	for _, e := range entries {
		if e.Type().IsRegular() {
			gone = append(gone, filepath.Join(folder, e.Name()))
		}
	}
	gone = append(gone, path+".before", atomicfile.Unfinished(path+".before"), atomicfile.Unfinished(path))
	if path == defaultConfig {
		if folder := seed.Find("/"); folder != "" {
			gone = append(gone, filepath.Join(folder, seed.Done))
		}
	}
	for _, name := range append(gone, path) {
		switch err := os.Remove(name); {
		case err == nil:
			fmt.Fprintf(cmd.OutOrStdout(), "removed %s\n", name)
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	return nil
}

func ignoreMissing(err error) error { return ignore(err, fs.ErrNotExist) }
