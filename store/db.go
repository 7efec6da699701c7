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

	"roomgate/store/disk"
	"roomgate/store/sealed"
	"roomgate/store/undo"
)

// DB is an open database. Its methods are safe for concurrent use.
type DB struct {
	path string
	o    Options
	log  *slog.Logger
	bolt *bbolt.DB
	lock *os.File
	// readOnly says that the disk could not be used at the start: the rows are only read, and nothing is checked.
	readOnly bool
	reserve  *disk.Reserve
	base     uint64 // the number before the first one of new queues

	enc       *sealed.Encoder // these four belong to the caller that leads
	undo      undo.Writes     // empty, only its room is of use
	lastGroup int             // calls in the last group
	pushed    map[string]int  // rows of Tailed queues since the last transaction that wrote there began

	writes    writers
	snapshots sync.Mutex
	doubt     *suspicion

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
			tx.db.doubt.raise(err)
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
	db.emptyTails(false)
	if !db.writes.close() {
		return nil
	}
	err := errors.Join(db.bolt.Close(), db.reserve.Close())
	if db.Suspect().Proved { // the next Open judges the disk
		disk.Forget(db.path)
	}
	if db.lock != nil { // the files in the making are nobody else's
		err = errors.Join(err, disk.Unlock(db.lock))
	}
	return err
}

func closedError(err error) error {
	if errors.Is(err, bolterrors.ErrDatabaseNotOpen) {
		return ErrClosed
	}
	return err
}

// Reserve is where the database keeps what must not wait for room; Options.Reserve is how much. It is never nil.
func (db *DB) Reserve() *disk.Reserve { return db.reserve }

// Path is the name of the database file.
func (db *DB) Path() string { return db.path }

// Run takes a snapshot every Options.SnapshotEvery until ctx ends, then returns nil. Snapshots that fail are logged and
// tried again the next time; an unchanged database is not written again. It reads the whole file from the disk every ten minutes,
// on a slow one less often. It ends with ErrDamaged once the file has turned out to be damaged, if there is room to repair it, and with
// ErrFailed if a new Open helps where nothing is written: after a failure in memory at once, after one of the disk when that
// takes writes again, and has room for a repair.
func (db *DB) Run(ctx context.Context) error {
	next := time.NewTimer(db.o.SnapshotEvery / 60) // the first one soon: a gateway that restarts every half hour needs one too
	defer next.Stop()
	look := time.NewTicker(stuckWrite / 6)
	defer look.Stop()
	try := time.NewTicker(disk.ProbeEvery)
	defer try.Stop()
	scrub := time.NewTimer(scrubEvery)
	defer scrub.Stop()
	var probe disk.Probe
	var believed time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-db.doubt.woken:
		case <-try.C:
			c := db.Condition()
			if !db.stopped() {
				_ = db.reserve.Again()
			} else if (c.State != disk.Full || db.roomless() == nil) && probe.Healed(db.path, c.State, c.Since) {
				return fmt.Errorf("the disk takes writes again, the database has to be opened again: %w", c.Err)
			}
		case <-scrub.C:
			scrub.Reset(db.scrub(ctx))
		case now := <-look.C:
			if db.writes.stuck(now) {
				db.doubt.raise(fmt.Errorf("a write has not come back for %v", stuckWrite))
			}
		case <-next.C:
			if err := db.Snapshot(ctx); err != nil && ctx.Err() == nil {
				db.log.Error("snapshot failed, the older ones stay", "error", err)
				if errors.Is(err, ErrDamaged) {
					db.doubt.raise(err)
				}
			}
			next.Reset(db.o.SnapshotEvery)
		}
		if db.readOnly || db.stopped() && db.Condition().State == disk.Full {
			db.doubt.decide(false)
		}
		cause := db.Suspect().Cause
		if cause == nil || time.Since(believed) < doubtPause && db.believes(cause, believed) {
			continue
		}
		if err := db.investigate(ctx); err != nil {
			return err
		}
		believed = time.Now()
	}
}

// believes says that a file which was found sound not long ago is not read again now: a function of the caller that
// panics again and again is no sign of damage, and for the others a moment passes.
func (db *DB) believes(cause error, since time.Time) bool {
	switch {
	case db.writes.failure() != nil:
		return false
	case errors.Is(cause, ErrPanic):
		db.doubt.decide(false)
		return true
	}
	return time.Since(since) < stuckWrite/6
}
