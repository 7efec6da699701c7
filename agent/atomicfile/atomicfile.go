// Package atomicfile writes files that are there whole or not at all, also after a
// power cut: the new file is written beside its place and synced, takes the name,
// and then the folder is synced.
//
// The store and the updates do the same with their own hands: the one must not
// import the agent, and the steps of the other are counted by a test that cuts the
// power between any two.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Write writes a file in the place of one that is there. Its owner alone may read
// it, unless prepare, which sees it before it has its name, says otherwise; nil: it
// does not. A power cut may leave Unfinished(path), which the next Write removes.
func Write(path string, data []byte, prepare func(*os.File) error) error {
	temp := Unfinished(path)
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if prepare != nil && err == nil {
		err = prepare(f)
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return Sync(filepath.Dir(path))
}

// Unfinished is the name of a file until it is whole.
func Unfinished(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".new")
}

// Sync makes a file, or the names in a folder, durable. A file system that has no
// such thing for folders, as some of sticks, does what it can by itself.
func Sync(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, f.Close())
}
