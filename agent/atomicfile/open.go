package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Open opens a file, and nothing else that has a name: a pipe or a terminal would keep
// who reads it waiting for what nobody writes. flags are those of open(2).
func Open(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.ELOOP) && flags&unix.O_NOFOLLOW != 0 {
		return nil, fmt.Errorf("%s is a link: put the file itself there", path)
	}
	if errors.Is(err, unix.ENXIO) || errors.Is(err, unix.EISDIR) {
		if info, e := os.Lstat(path); e == nil {
			return nil, noFile(path, info)
		}
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = noFile(path, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Read reads a file of at most so many bytes, and one byte more of a larger one.
func Read(path string, flags int, most int64) ([]byte, error) {
	f, err := Open(path, flags|os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	return data, errors.Join(err, f.Close())
}

// noFile says what is there in the place of a file.
func noFile(path string, info fs.FileInfo) error {
	kind := "a device"
	switch info.Mode().Type() {
	case fs.ModeDir:
		kind = "a folder"
	case fs.ModeNamedPipe:
		kind = "a pipe"
	case fs.ModeSocket:
		kind = "a socket"
	}
	return fmt.Errorf("%s is %s and no file: name a file", path, kind)
}
