package atomicfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Unnamed opens a file in a folder that is gone once it is closed, also by a power cut.
func Unnamed(folder string) (*os.File, error) {
	f, err := os.OpenFile(folder, os.O_RDWR|unix.O_TMPFILE, 0o600)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EISDIR) { // not every file system can
		if f, err = os.CreateTemp(folder, ".unnamed-*"); err == nil {
			err = os.Remove(f.Name())
		}
	}
	return f, err
}
