// Package devicesecret keeps the secret of a gateway in a file of its data
// folder. What the gateway seals, signs and hashes is under keys made of it.
package devicesecret

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"roomgate/agent/atomicfile"
	"roomgate/agent/auth"
)

// File is the name of the device secret in the data folder. It is not in
// the database, so that a copy of that alone opens nothing.
const File = "device.secret"

// Open returns the keys made of the device secret in dir, which it makes if there
// is none. hardware is an opaque name of this machine, by which a copied card is
// noticed; empty: nothing is compared.
func Open(dir, hardware string, log *slog.Logger) (*auth.Keys, error) {
	if err := leaveOther(dir, hardware, log); err != nil {
		return nil, err
	}
	secret, err := read(dir, log)
	if err != nil {
		return nil, err
	}
	return auth.NewKeys(secret)
}

// read reads the device secret, or makes one. One of the wrong size is
// replaced: who was signed in signs in again.
func read(dir string, log *slog.Logger) ([]byte, error) {
	path := filepath.Join(dir, File)
	secret, err := os.ReadFile(path)
	switch {
	case err == nil && len(secret) == auth.SecretSize:
		return secret, nil
	case err == nil:
		log.Warn("the device secret is damaged, a new one is made: people sign in again", "file", path)
	case errors.Is(err, unix.EIO): // a better reader may still get it, so it stays
		log.Error("the device secret cannot be read: until then unlock codes, secrets of webhooks and sign-ins are not known, see roomgate doctor", "file", path, "error", err)
		return auth.NewSecret(), nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read the device secret: %w", err)
	}
	secret = auth.NewSecret()
	switch err = atomicfile.Write(path, secret, nil); {
	case notTaken(err):
		log.Error("the device secret cannot be stored, it is good until the next start: see roomgate doctor", "error", err)
	case err != nil:
		return nil, fmt.Errorf("write the device secret: %w", err)
	}
	return secret, nil
}

// notTaken says that the disk is to blame: it is full, failing or read-only.
func notTaken(err error) bool {
	return slices.ContainsFunc([]error{unix.ENOSPC, unix.EDQUOT, unix.EROFS, unix.EIO}, func(e error) bool { return errors.Is(err, e) })
}
