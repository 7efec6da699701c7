package devicesecret

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"roomgate/agent/atomicfile"
)

// BoardFile is the name, in the data folder, of the file that says on which
// hardware the device secret was made.
const BoardFile = File + ".board"

// leaveOther leaves the secret of a card that was copied: its data folder names
// other hardware than this. Two gateways with one device secret would take each
// other's tokens and unlock codes, so here a new one is made. Whether a card was
// copied or only moved nobody can tell from here; the old secret is therefore
// kept beside, and the log says how it comes back. hardware is an opaque name
// of this machine; empty: nobody knows it, and nothing is compared.
func leaveOther(dir, hardware string, log *slog.Logger) error {
	if hardware == "" {
		return nil
	}
	path := filepath.Join(dir, BoardFile)
	raw, err := os.ReadFile(path)
	known := strings.TrimSpace(string(raw))
	switch {
	case errors.Is(err, unix.EIO): // nothing is left because a disk does not deliver it
		log.Error("cannot read which hardware this card belongs to, taking it as this one: see roomgate doctor", "error", err)
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("read which hardware this card belongs to: %w", err)
	case known == hardware:
		return nil
	case len(known) == len(hardware): // else it is new, or damaged
		if err := leaveSecret(dir, log); err != nil {
			return err
		}
	}
	// The secret is gone before the new name is there: a power cut in between
	// comes here again.
	switch err := atomicfile.Write(path, []byte(hardware+"\n"), nil); {
	case notTaken(err):
		log.Error("cannot store which hardware this card belongs to: see roomgate doctor", "error", err)
	case err != nil:
		return fmt.Errorf("write which hardware this card belongs to: %w", err)
	}
	return nil
}

// leaveSecret puts the device secret aside.
func leaveSecret(dir string, log *slog.Logger) error {
	path := filepath.Join(dir, File)
	switch err := os.Rename(path, path+".before"); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("leave the device secret of other hardware: %w", err)
	}
	log.Warn("this card comes from other hardware, so the gateway gets a new identity: people sign in again, unlock codes, addresses and secrets of webhooks and devices added at run time have to be made again. "+
		"If the card was moved and not copied: stop the gateway, move the file before over the file, and start it",
		"file", path, "before", path+".before")
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
