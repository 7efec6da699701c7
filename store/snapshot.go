package store

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"roomgate/store/pages"
)

// Snapshot copies the database beside itself, verifies the copy and keeps the newest Options.Snapshots. A database
// that has not changed since the newest snapshot is not copied again. Reading the copy back also finds rows that
// have gone bad on the card: then no snapshot is kept, and the older ones stay.
func (db *DB) Snapshot(ctx context.Context) error { return db.takeSnapshot(ctx, nil) }

func (db *DB) takeSnapshot(ctx context.Context, progress Progress) error {
	db.snapshots.Lock()
	defer db.snapshots.Unlock()
	err := db.snapshot(ctx, progress)
	db.mu.Lock()
	defer db.mu.Unlock()
	if err != nil {
		db.count.err = err
		return err
	}
	db.count.snapshot = time.Now()
	return nil
}

func (db *DB) snapshot(ctx context.Context, progress Progress) error {
	older, err := siblings(db.path, kindSnapshot)
	if err != nil {
		return err
	}
	if len(older) > 0 && sameContents(db.path, older[len(older)-1].name) {
		return nil
	}
	made := numbered{number: nextNumber(older)}
	made.name = sibling(db.path, kindSnapshot, made.number)
	if err := db.copyTo(ctx, made.name, progress); err != nil {
		return err
	}
	return prune(append(older, made), db.o.Snapshots)
}

func sameContents(a, b string) bool {
	am, err := headerOf(a)
	if err != nil {
		return false
	}
	bm, err := headerOf(b)
	return err == nil && am == bm
}

// headerOf reads the header of a file that may be in use.
func headerOf(path string) (pages.Header, error) {
	file, err := os.Open(path)
	if err != nil {
		return pages.Header{}, err
	}
	defer file.Close()
	return pages.File{Reader: file}.Header()
}

// copyTo writes a verified copy of one consistent state under name, atomically.
func (db *DB) copyTo(ctx context.Context, name string, progress Progress) error {
	temp := temporary(name)
	err := db.writeCopy(ctx, temp, progress)
	if err == nil {
		err = install(temp, name)
	}
	if err != nil {
		return errors.Join(err, removeIfThere(temp))
	}
	return nil
}

func (db *DB) writeCopy(ctx context.Context, temp string, progress Progress) error {
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	t := tally{progress: progress}
	err = db.View(func(tx *Tx) error {
		if err := roomFor(temp, tx.bolt.Size()); err != nil {
			return err
		}
		t.total = 2 * tx.bolt.Size()
		if _, err := tx.bolt.WriteTo(stoppable{ctx, &t, f}); err != nil {
			return errors.Join(ctx.Err(), err) // bbolt loses the cause
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return verifyImage(counted{ctx, f, &t}, t.total/2)
}

// tally tells somebody how far a copy is.
type tally struct {
	done, total int64 // bytes
	progress    Progress
}

func (t *tally) add(n int) {
	if t.done += int64(n); t.progress != nil {
		t.progress(min(t.done, t.total), t.total)
	}
}

// counted counts what is read, until its context ends.
type counted struct {
	ctx context.Context
	io.ReaderAt
	tally *tally
}

// ReadAt reads a piece.
func (c counted) ReadAt(p []byte, at int64) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.ReaderAt.ReadAt(p, at)
	c.tally.add(n)
	return n, err
}

// stoppable lets the end of a context end a long copy.
type stoppable struct {
	ctx   context.Context
	tally *tally
	w     io.Writer
}

func (s stoppable) Write(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.w.Write(p)
	s.tally.add(n)
	return n, err
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
