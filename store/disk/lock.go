package disk

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// ErrLocked says that another process holds the lock.
var ErrLocked = errors.New("store is in use by another process, stop that one first")

// LockTimeout is how long a lock is waited for: its holder may be about to end.
const LockTimeout = 2 * time.Second

// Lock holds the file at path, made if need be, against other processes until Unlock. It waits a little for a process
// that is about to end, then the error is ErrLocked. On a read-only disk a file that is there is held as well.
func Lock(ctx context.Context, path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if errors.Is(err, syscall.EROFS) {
		if held, e := os.Open(path); e == nil { // which is enough to hold it
			f, err = held, nil
		}
	}
	if err != nil {
		return nil, err
	}
	timed, cancel := context.WithTimeout(ctx, LockTimeout)
	defer cancel()
	for syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		select {
		case <-timed.Done():
			return nil, errors.Join(ErrLocked, f.Close())
		case <-time.After(LockTimeout / 100):
		}
	}
	return f, nil
}

// Unlock gives the lock back at once. Closing alone would leave it with any child that is just being started.
func Unlock(f *os.File) error {
	if f == nil { // on a disk that has none, nobody else can write either
		return nil
	}
	return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
}

// OpenShared opens a file for reading that nobody writes.
func OpenShared(path string) (*os.File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(ErrLocked, file.Close())
	}
	return file, nil
}
