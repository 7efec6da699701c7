package authority

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"roomgate/cloud/internal/whole"
)

// write puts a whole file in the place of another one, or leaves that.
func write(path string, raw []byte, mode fs.FileMode) error {
	return whole.Write(path, raw, mode)
}

// alone calls do while no other process changes the folder.
func (a *Authority) alone(do func() error) error {
	f, err := os.OpenFile(filepath.Join(a.dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return errors.Join(err, f.Close())
	}
	return errors.Join(do(), f.Close())
}

// readJSON reads a file into v; one that is not there leaves v as it is.
func readJSON(path string, v any) (there bool, err error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		if err = json.Unmarshal(raw, v); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}
	return true, err
}

func writeJSON(path string, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return write(path, append(raw, '\n'), 0o600)
}
