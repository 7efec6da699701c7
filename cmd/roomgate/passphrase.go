package main

import (
	"cmp"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"roomgate/agent/backup"

	"roomgate/cmd/roomgate/show"
)

// passphraseVariable holds the passphrase of a backup. There is no flag for
// it: what stands in a command line, every process of the machine can read.
const passphraseVariable = "ROOMGATE_PASSPHRASE"

// maxPassphrase bounds a passphrase, in bytes.
const maxPassphrase = 1024

func passphraseFlag(cmd *cobra.Command) {
	cmd.Flags().String("passphrase-file", "", "`FILE` whose first line is the passphrase; else "+passphraseVariable+", else it is asked for")
}

// passphrase asks for the passphrase of a backup. A new one is asked for twice.
func passphrase(cmd *cobra.Command, fresh bool) (word string, err error) {
	path, environment := text(cmd, "passphrase-file"), os.Getenv(passphraseVariable)
	switch {
	case path != "":
		word, err = passphraseFrom(cmd, path)
	case environment != "":
		word = environment
	case show.IsTerminal(os.Stdin):
		word, err = askPassphrase(cmd, fresh)
	default:
		err = fail(exitUsage, "nobody can be asked for the passphrase here: give it with --passphrase-file or %s", passphraseVariable)
	}
	if err == nil && fresh && len(word) < backup.MinPassphrase {
		err = fail(exitUsage, "the passphrase has %s: choose at least %d, four words for example", show.Count(len(word), "character"), backup.MinPassphrase)
	}
	return word, err
}

func passphraseFrom(cmd *cobra.Command, path string) (string, error) {
	line, err := lineGiven(cmd, path, maxGiven)
	if err != nil {
		return "", fail(exitUsage, "the passphrase cannot be read: %w", err)
	}
	if line == "" || len(line) > maxPassphrase {
		return "", fail(exitUsage, "the first line of %s is no passphrase: want 1 to %d characters", path, maxPassphrase)
	}
	return line, nil
}

func askPassphrase(cmd *cobra.Command, fresh bool) (word string, err error) {
	t := newTerminal(cmd)
	t.Out = cmd.ErrOrStderr()
	err = withoutEcho(os.Stdin, func() error {
		if word, err = t.Secret(cmd.Context(), "passphrase of the backup: "); err != nil || !fresh {
			return err
		}
		again, err := t.Secret(cmd.Context(), "the same again: ")
		if err == nil && again != word {
			err = fail(exitUsage, "the two are not the same: try again")
		}
		return err
	})
	return word, err
}

// withoutEcho runs f while the terminal does not show what is typed. However f
// ends, it shows it again.
func withoutEcho(f *os.File, ask func() error) error {
	fd := int(f.Fd())
	old, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return fmt.Errorf("hide the typed text: %w", err)
	}
	silent := *old
	silent.Lflag &^= unix.ECHO
	silent.Lflag |= unix.ICANON | unix.ISIG
	silent.Iflag |= unix.ICRNL
	if err := unix.IoctlSetTermios(fd, unix.TCSETS, &silent); err != nil {
		return fmt.Errorf("hide the typed text: %w", err)
	}
	err = ask()
	return cmp.Or(err, unix.IoctlSetTermios(fd, unix.TCSETS, old))
}
