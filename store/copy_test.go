package store

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"roomgate/store/disk"
	"roomgate/store/layout"
)

// A copy is whole and stays what it was, whatever happens to the database and to the snapshots.
func TestCopyIsOfOneMoment(t *testing.T) {
	path := tempPath(t)
	db := start(t, path, Options{Snapshots: 1})
	push(t, db, log, 3)
	var done, size int64
	f, err := db.Copy(context.Background(), func(now, total int64) {
		if now < done || now > total || size != 0 && total != size {
			t.Errorf("%d of %d after %d of %d", now, total, done, size)
		}
		done, size = now, total
	})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || size != 2*info.Size() || done <= info.Size() {
		t.Errorf("told of %d and at last of %d: want twice the size, and that it is read back (%v)", size, done, err)
	}
	push(t, db, log, 3)
	if err := db.Snapshot(context.Background()); err != nil { // removes the file that f reads
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "copy.db")
	raw, err := io.ReadAll(f)
	if err == nil {
		err = os.WriteFile(to, raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := Verify(to); err != nil {
		t.Fatal(err)
	}
	if schema, err := Schema(to); err != nil || schema != 1 {
		t.Errorf("schema %d, %v", schema, err)
	}
	other := start(t, to, Options{})
	if err := other.View(func(tx *Tx) error {
		if n, last := log.Len(tx), log.Last(tx); n != 3 || last != 3 {
			t.Errorf("%d rows up to %d", n, last)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// Skipped numbers are above the floor, above those of the snapshot's restore, and no row is lost.
func TestSkipSequences(t *testing.T) {
	path := tempPath(t)
	db := start(t, path, Options{})
	push(t, db, log, 2)
	const floor = 1 << 47
	for i, want := range []uint64{2 + layout.Skipped, floor, floor + layout.Skipped} {
		if err := db.SkipSequences(context.Background(), uint64(min(i, 1))*floor); err != nil {
			t.Fatal(err)
		}
		if err := db.View(func(tx *Tx) error {
			if last := log.Last(tx); last != want {
				t.Errorf("skip %d: the last number is %d, want %d", i, last, want)
			}
			if n := log.Len(tx); n != 2 {
				t.Errorf("skip %d: %d rows", i, n)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	push(t, db, log, 1)
	stop(t, db)
	if err := Verify(path); err != nil {
		t.Error(err)
	}
	db = start(t, path, Options{})
	if first := push(t, db, NewQueue[record]("another", 10, DropOldest), 1); first != floor+1 {
		t.Errorf("a queue without rows begins at %d", first)
	}
}

func TestLockAndFiles(t *testing.T) {
	path := tempPath(t)
	db := start(t, path, Options{})
	if _, err := Lock(context.Background(), path); !errors.Is(err, ErrLocked) {
		t.Errorf("locked twice: %v", err)
	}
	if err := db.Snapshot(context.Background()); err != nil {
		t.Fatal(err)
	}
	stop(t, db)
	lock, err := Lock(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(context.Background(), path, Options{}); !errors.Is(err, ErrLocked) {
		t.Errorf("opened in spite of the lock: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Error(err)
	}
	names, err := Files(path)
	if err != nil || len(names) != 2 || names[0] != path || names[1] != disk.Sibling(path, kindSnapshot, 1) {
		t.Errorf("files %v, %v", names, err)
	}
}
