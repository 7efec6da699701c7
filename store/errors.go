package store

import (
	"errors"
	"fmt"
	"strings"

	bolterrors "go.etcd.io/bbolt/errors"

	"roomgate/store/disk"
	"roomgate/store/layout"
	"roomgate/store/pages"
)

// Errors of reading and writing rows.
var (
	// ErrNotFound says that the table or queue holds no row with that key.
	ErrNotFound = errors.New("not found")
	// ErrDamaged says that stored bytes do not match their checksum or structure. The text names the row or page.
	ErrDamaged = pages.ErrDamaged
	// ErrQueueFull says that a queue with the policy Refuse has reached its maximum.
	ErrQueueFull = errors.New("queue is full, trim it or raise its maximum")
	// ErrReadOnly says that a write was tried inside View.
	ErrReadOnly = errors.New("transaction is read-only, use Update")
	// ErrTxClosed says that a Tx was used after its function had returned.
	ErrTxClosed = errors.New("transaction has ended")
)

// Errors of the database as a whole.
var (
	// ErrFull says that the disk or the size budget is exhausted. Nothing of the failed group was stored,
	// reading goes on, and functions that free more than they add may still succeed.
	ErrFull = errors.New("store is full, free disk space or raise its maximum size")
	// ErrFailed says that an earlier write failed in a way that leaves the disk's state unknown, or that a
	// damaged page was met while writing. Reading goes on; writing needs a new Open.
	ErrFailed = errors.New("store cannot write since a failure, see the disk")
	// ErrClosed says that the database has been closed.
	ErrClosed = errors.New("store is closed")
	// ErrLocked says that another process has the database open.
	ErrLocked = disk.ErrLocked
	// ErrUnreadable says that the disk did not deliver the file, or the system does not let it be read. That is no
	// verdict about what is in it.
	ErrUnreadable = pages.ErrUnreadable
	// ErrNewerSchema says that the file was written by a newer version of the program.
	ErrNewerSchema = layout.ErrNewerSchema
	// ErrPanic says that the function handed to View or Update panicked; its changes are undone.
	ErrPanic = errors.New("function panicked")
)

// commitError makes a failed bbolt commit one of ours. bbolt loses the cause of a failed file growth, so that
// one is known by its text only.
func commitError(err error) error {
	switch {
	case err == nil:
		return nil
	case disk.Lacking(err), errors.Is(err, bolterrors.ErrMaxSizeReached), strings.Contains(err.Error(), bolterrors.ErrMaxSizeReached.Error()):
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return fmt.Errorf("%w: %w: %w", ErrFailed, errDisk, err)
}
