package store

import (
	"context"
	"errors"
	"os"
	"time"

	"roomgate/store/disk"
	"roomgate/store/pages"
)

// Snapshot copies the database beside itself, verifies the copy and keeps the newest Options.Snapshots. A database
// that has not changed since the newest snapshot is not copied again. Reading the copy back also finds rows that
// have gone bad on the card: then no snapshot is kept, and the older ones stay.
func (db *DB) Snapshot(ctx context.Context) error { return db.takeSnapshot(ctx, nil) }

func (db *DB) takeSnapshot(ctx context.Context, progress Progress) error {
	db.snapshots.Lock()
	defer db.snapshots.Unlock()
	if db.readOnly {
		return db.writes.failure() // what stands in may lack rows that an older one has
	}
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
	older, err := disk.Siblings(db.path, kindSnapshot)
	if err != nil {
		return err
	}
	if len(older) > 0 && sameContents(db.path, older[len(older)-1].Name) {
		return nil
	}
	made := disk.Numbered{Number: disk.Following(older)}
	made.Name = disk.Sibling(db.path, kindSnapshot, made.Number)
	if err := db.copyTo(ctx, made.Name, progress); err != nil {
		return err
	}
	db.noteCopy(made.Name)
	return disk.Prune(append(older, made), db.o.Snapshots)
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
		err = disk.Install(temp, name)
	}
	if err != nil {
		return errors.Join(err, disk.Remove(temp))
	}
	return nil
}

func (db *DB) writeCopy(ctx context.Context, temp string, progress Progress) error {
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	t := disk.Tally{Progress: progress}
	err = db.View(func(tx *Tx) error {
		if err := checkFree(temp, tx.bolt.Size()); err != nil {
			return err
		}
		t.Total = 2 * tx.bolt.Size()
		if _, err := tx.bolt.WriteTo(disk.Stoppable{Ctx: ctx, Tally: &t, Writer: f}); err != nil {
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
	return verifyImage(disk.Counted{Ctx: ctx, ReaderAt: f, Tally: &t}, t.Total/2)
}
