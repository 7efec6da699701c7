package update

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// disk is everything that changes files here, few steps that a test can count,
// and cut the power between any two of.
type disk interface {
	Mkdir(path string) error // and what is above it; one that is there is fine
	// Create makes a new file, in the place of one that is there.
	Create(path string, mode os.FileMode) (file, error)
	// Append opens a file to write behind its end, a new one if there is none.
	Append(path string) (file, error)
	Rename(from, to string) error
	RemoveAll(path string) error
	SyncDir(path string) error
}

type file interface {
	io.WriteCloser
	Sync() error
}

// realDisk is the machine's.
type realDisk struct{}

func (realDisk) Mkdir(path string) error      { return os.MkdirAll(path, 0o700) }
func (realDisk) Rename(from, to string) error { return os.Rename(from, to) }
func (realDisk) RemoveAll(path string) error  { return os.RemoveAll(path) }
func (realDisk) Create(path string, mode os.FileMode) (file, error) {
	if err := os.RemoveAll(path); err != nil { // whatever it is: a pipe would wait, a link lead elsewhere
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
}

func (realDisk) Append(path string) (file, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
}

func (realDisk) SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// writeWhole writes a small file that is there whole or not at all, also after a
// power cut.
func writeWhole(d disk, path string, data []byte) error {
	temp := path + ".new"
	f, err := d.Create(temp, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, d.RemoveAll(temp))
	}
	if err := d.Rename(temp, path); err != nil {
		return err
	}
	return d.SyncDir(filepath.Dir(path))
}

// openRegular opens a file to read. Anything else at the path is not touched:
// the other end of a pipe could hold a start for ever.
func openRegular(path string) (*os.File, os.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no file", path)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// readSmall reads a file of at most so many bytes.
func readSmall(path string, most int64) ([]byte, error) {
	f, info, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > most {
		return nil, fmt.Errorf("%s has %d bytes: want at most %d", path, info.Size(), most)
	}
	return io.ReadAll(io.LimitReader(f, most))
}
