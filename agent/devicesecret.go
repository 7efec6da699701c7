package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"roomgate/agent/auth"
	"roomgate/agent/whole"
)

// SecretFile is the name of the device secret in the data folder. It is not in
// the database, so that a copy of that alone opens nothing.
const SecretFile = "device.secret"

// deviceSecret reads the device secret, or makes one. One of the wrong size is
// replaced: who was signed in signs in again.
func deviceSecret(dir string, log *slog.Logger) ([]byte, error) {
	path := filepath.Join(dir, SecretFile)
	secret, err := os.ReadFile(path)
	switch {
	case err == nil && len(secret) == auth.SecretSize:
		return secret, nil
	case err == nil:
		log.Warn("the device secret is damaged, a new one is made: people sign in again", "file", path)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read the device secret: %w", err)
	}
	secret = auth.NewSecret()
	switch err = whole.Write(path, secret, nil); {
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		log.Error("the device secret cannot be stored, it is good until the next start: free space on the disk", "error", err)
	case err != nil:
		return nil, fmt.Errorf("write the device secret: %w", err)
	}
	return secret, nil
}
