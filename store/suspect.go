package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"roomgate/store/disk"
	"roomgate/store/layout"
	"roomgate/store/pages"
)

// suspicion is that the open file is damaged: a row whose checksum fails, a page that makes bbolt panic, a write that
// does not come back. Run looks into it at once, by reading the whole file.
type suspicion struct {
	mu     sync.Mutex
	cause  error // nil: there is none
	since  time.Time
	proved bool
	woken  chan struct{}
}

func newSuspicion() *suspicion { return &suspicion{woken: make(chan struct{}, 1)} }

// raise wakes Run. Only the first cause is kept.
func (s *suspicion) raise(cause error) {
	s.mu.Lock()
	if s.cause == nil {
		s.cause, s.since = cause, time.Now()
	}
	s.mu.Unlock()
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

func (s *suspicion) decide(proved bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proved = proved; !proved {
		s.cause = nil
	}
}

// Suspicion is why the file may be damaged.
type Suspicion struct {
	Cause  error // nil: nothing speaks for it
	Since  time.Time
	Proved bool // the whole file was read and is damaged: only a new Open repairs it, and Run has ended
}

// Suspect is why the file may be damaged.
func (db *DB) Suspect() Suspicion {
	s := db.doubt
	s.mu.Lock()
	defer s.mu.Unlock()
	return Suspicion{s.cause, s.since, s.proved}
}

const (
	// stuckWrite is after how long a write is suspect. bbolt may loop for ever on a damaged page.
	stuckWrite = time.Minute
	// doubtPause is how long a file that was just found sound is believed.
	doubtPause = 10 * time.Minute
	// scrubEvery is how often the whole file is read.
	scrubEvery = 10 * time.Minute
)

// investigate reads the file. It returns ErrDamaged if it is damaged, on the disk or in the memory that stands for it, or the
// failure after which nothing can be written. A damaged file that there is no room to repair is read on. A sound one ends the
// suspicion: then it was a function of the caller.
func (db *DB) investigate(ctx context.Context) error {
	cause := db.Suspect().Cause
	if cause == nil {
		return nil
	}
	err := db.judge(ctx)
	switch {
	case errors.Is(err, ErrDamaged):
		if lack := db.roomless(); lack != nil && !db.writes.stuck(time.Now()) {
			db.fail(fmt.Errorf("%w: %w: %w: %w", ErrFailed, errDisk, err, lack))
			break
		}
		db.doubt.decide(true)
		db.log.Error("the database is damaged: it has to be opened again, which repairs it", "noticed", cause, "error", err)
		return fmt.Errorf("the database is damaged, the next start repairs it: %w", err)
	case err != nil && ctx.Err() == nil:
		db.log.Error("the database cannot be checked", "noticed", cause, "error", err)
		db.noteUnread(err)
	case err == nil:
		db.noteUnread(nil)
		db.log.Warn("the database was suspect and is sound", "noticed", cause)
	}
	db.doubt.decide(false)
	if db.stopped() {
		return nil
	}
	return db.writes.failure()
}

// judge reads the file from the disk, and from memory, where its rows come from as long as they are there. What the disk
// has lost and memory still has is kept in a snapshot, which the repair fills the gap from.
func (db *DB) judge(ctx context.Context) error {
	onDisk, inMemory := db.proof(ctx), proofFrom(ctx, db, os.Open)
	switch {
	case errors.Is(onDisk, ErrDamaged) && inMemory == nil:
		if err := db.Snapshot(ctx); err != nil {
			db.log.Error("cannot keep the rows that memory has of a damaged database", "error", err)
		}
	case onDisk == nil && errors.Is(inMemory, ErrDamaged):
		return fmt.Errorf("the disk has it well, memory does not: %w", inMemory)
	}
	return onDisk
}

// proof checks one state of the file as the disk has it, whatever is written meanwhile: bbolt does not use the pages of a
// state again while somebody reads it. It does not read the headers, of which one may just be written.
func (db *DB) proof(ctx context.Context) error { return proofFrom(ctx, db, disk.OpenUncached) }

// source is a file that is open for reading.
type source interface {
	io.ReaderAt
	io.Closer
}

func proofFrom[File source](ctx context.Context, db *DB, open func(path string) (File, error)) error {
	file, err := open(db.path)
	if err != nil {
		return err
	}
	defer file.Close()
	return db.proofOf(disk.Counted{Ctx: ctx, ReaderAt: file, Tally: &disk.Tally{}})
}

func (db *DB) proofOf(file io.ReaderAt) error {
	bt, err := db.bolt.Begin(false)
	if err != nil {
		return closedError(err)
	}
	defer rollback(bt)
	state := pages.File{Reader: file, Size: bt.Size()}
	return state.CheckTree(uint64(bt.Cursor().Bucket().Root()), layout.Rows)
}

// scrub reads the whole file from the disk, so that a row that has gone bad there is found though nobody asks for it and though
// it is in memory. It returns the time until the next: a slow disk is left alone for longer.
func (db *DB) scrub(ctx context.Context) time.Duration {
	if db.stopped() {
		return scrubEvery
	}
	began := time.Now()
	switch err := db.proof(ctx); {
	case errors.Is(err, ErrDamaged):
		db.doubt.raise(fmt.Errorf("the whole file was read: %w", err))
	case ctx.Err() == nil:
		db.noteUnread(err)
	}
	return max(scrubEvery, 20*time.Since(began))
}

// failure is why nothing can be written any more, nil if it can.
func (w *writers) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}

// stopped says that the disk keeps the database from writing, and not what is in memory: it can be read on.
func (db *DB) stopped() bool { return db.readOnly || errors.Is(db.writes.failure(), errDisk) }

// stuck says that a write has been under way for too long.
func (w *writers) stuck(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.leading && !w.began.IsZero() && now.Sub(w.began) > stuckWrite
}
