package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// DB is an open database. Its methods are safe for concurrent use.
type DB struct {
	path string
	o    Options
	log  *slog.Logger
	bolt *bbolt.DB
	lock *os.File
	base uint64 // the number before the first one of new queues

	enc       *encoder // these three belong to the caller that leads
	undo      []change // empty, only its room is of use
	lastGroup int      // calls in the last group

	writes    writers
	snapshots sync.Mutex

	mu    sync.Mutex
	count counters
}

// View runs fn on one consistent state. It waits for nobody and nobody waits for it, but while it runs the space of
// replaced rows is not reused, so keep it under 50 ms. A panic of fn is returned as ErrPanic, one of damaged pages
// as ErrDamaged.
func (db *DB) View(fn func(*Tx) error) error {
	bt, err := db.bolt.Begin(false)
	if err != nil {
		return closedError(err)
	}
	defer bt.Rollback()
	tx := &Tx{db: db, bolt: bt}
	defer func() { tx.bolt = nil }()
	return tx.call(fn)
}

// call runs fn and makes its panics errors. A page that the disk cannot deliver is a fault at its address in the
// mapped file; it becomes a panic here instead of the end of the process.
func (tx *Tx) call(fn func(*Tx) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = panicError(r)
			tx.db.log.Error("store function panicked", "error", err, "stack", string(debug.Stack()))
		}
	}()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	return fn(tx)
}

func panicError(r any) error {
	if fault, ok := r.(interface {
		runtime.Error
		Addr() uintptr
	}); ok {
		return fmt.Errorf("%w: page at %#x cannot be read", ErrDamaged, fault.Addr())
	}
	return fmt.Errorf("%w: %v", ErrPanic, r)
}

// Close waits for running transactions and releases the file. Waiting Updates get ErrClosed. Closing twice is fine.
func (db *DB) Close() error {
	if !db.writes.close() {
		return nil
	}
	err := db.bolt.Close()
	if db.lock != nil { // the files in the making are nobody else's
		err = errors.Join(err, unlock(db.lock))
	}
	return err
}

func closedError(err error) error {
	if errors.Is(err, bolterrors.ErrDatabaseNotOpen) {
		return ErrClosed
	}
	return err
}

// Path is the name of the database file.
func (db *DB) Path() string { return db.path }

// Run takes a snapshot every Options.SnapshotEvery until ctx ends, then returns nil. Snapshots that fail are logged
// and tried again the next time; an unchanged database is not written again.
func (db *DB) Run(ctx context.Context) error {
	wait := db.o.SnapshotEvery / 60 // the first one soon: a gateway that restarts every half hour needs one too
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
		if err := db.Snapshot(ctx); err != nil && ctx.Err() == nil {
			db.log.Error("snapshot failed, the older ones stay", "error", err)
		}
		wait = db.o.SnapshotEvery
	}
}
