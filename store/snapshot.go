package store

import (
	"context"
	"errors"
	"io"
	"os"
	"time"
)

// Snapshot copies the database beside itself, verifies the copy and keeps the newest Options.Snapshots. A database
// that has not changed since the newest snapshot is not copied again. Reading the copy back also finds rows that
// have gone bad on the card: then no snapshot is kept, and the older ones stay.
func (db *DB) Snapshot(ctx context.Context) error {
	db.snapshots.Lock()
	defer db.snapshots.Unlock()
	err := db.snapshot(ctx)
	db.mu.Lock()
	defer db.mu.Unlock()
	if err != nil {
		db.count.err = err
		return err
	}
	db.count.snapshot = time.Now()
	return nil
}

func (db *DB) snapshot(ctx context.Context) error {
	older, err := siblings(db.path, kindSnapshot)
	if err != nil {
		return err
	}
	if len(older) > 0 && sameContents(db.path, older[len(older)-1].name) {
		return nil
	}
	made := numbered{number: nextNumber(older)}
	made.name = sibling(db.path, kindSnapshot, made.number)
	if err := db.copyTo(ctx, made.name); err != nil {
		return err
	}
	return prune(append(older, made), db.o.Snapshots)
}

func sameContents(a, b string) bool {
	am, err := metaOf(a)
	if err != nil {
		return false
	}
	bm, err := metaOf(b)
	return err == nil && am == bm
}

// copyTo writes a verified copy of one consistent state under name, atomically.
func (db *DB) copyTo(ctx context.Context, name string) error {
	temp := temporary(name)
	err := db.writeCopy(ctx, temp)
	if err == nil {
		err = install(temp, name)
	}
	if err != nil {
		return errors.Join(err, removeIfThere(temp))
	}
	return nil
}

func (db *DB) writeCopy(ctx context.Context, temp string) error {
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	err = db.View(func(tx *Tx) error {
		if err := roomFor(temp, tx.bolt.Size()); err != nil {
			return err
		}
		if _, err := tx.bolt.WriteTo(stoppable{ctx, f}); err != nil {
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
	return verifyFile(f)
}

// stoppable lets the end of a context end a long copy.
type stoppable struct {
	ctx context.Context
	w   io.Writer
}

func (s stoppable) Write(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.w.Write(p)
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
