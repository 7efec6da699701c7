package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"roomgate/store/disk"
)

func snapshotNumbers(t *testing.T, path string) (numbers []int) {
	t.Helper()
	found, err := disk.Siblings(path, kindSnapshot)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range found {
		numbers = append(numbers, s.Number)
		if err := Verify(s.Name); err != nil {
			t.Error(err)
		}
	}
	return numbers
}

func TestSnapshotsAreVerifiedRotatedAndSkippedWhenUnchanged(t *testing.T) {
	path := tempPath(t)
	db := start(t, path, Options{Snapshots: 2})
	take := func(want ...int) {
		t.Helper()
		if err := db.Snapshot(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(snapshotNumbers(t, path)); got != fmt.Sprint(want) {
			t.Errorf("snapshots %s, want %v", got, want)
		}
	}
	take(1)
	take(1)
	push(t, db, log, 1)
	take(1, 2)
	push(t, db, log, 1)
	take(2, 3)
	stop(t, db)
	db = start(t, path, Options{Snapshots: 2})
	take(2, 3)
	push(t, db, log, 1)
	take(3, 4)
}

func TestSnapshotWhileWriting(t *testing.T) {
	path := tempPath(t)
	db := start(t, path, Options{Snapshots: 1})
	done := make(chan bool)
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
				if err := db.Update(context.Background(), func(tx *Tx) error {
					_, err := log.Push(tx, record{"x", i})
					return errors.Join(err, records.Put(tx, fmt.Sprint(i%50), record{strings.Repeat("w", i%3000), i}))
				}); err != nil {
					t.Error(err)
				}
			}
		}
	})
	for range 10 {
		if err := db.Snapshot(context.Background()); err != nil {
			t.Error(err)
		}
	}
	close(done)
	wg.Wait()
	snapshotNumbers(t, path)
}

func TestStoppedSnapshotLeavesNothing(t *testing.T) {
	path := tempPath(t)
	db := start(t, path, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	wantError(t, db.Snapshot(ctx), context.Canceled)
	wantOnly(t, path, "", ".lock")
}

// wantOnly compares the files beside the database.
func wantOnly(t *testing.T, path string, suffixes ...string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, strings.TrimPrefix(e.Name(), filepath.Base(path)))
	}
	if fmt.Sprint(got) != fmt.Sprint(suffixes) {
		t.Errorf("files %q, want %q", got, suffixes)
	}
}

func TestRunSnapshotsUntilStopped(t *testing.T) {
	path := tempPath(t)
	db := start(t, path, Options{SnapshotEvery: time.Millisecond})
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := db.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	for len(snapshotNumbers(t, path)) < 2 && ctx.Err() == nil {
		push(t, db, log, 1)
	}
	if ctx.Err() != nil {
		t.Error("no second snapshot was taken")
	}
	cancel()
	wg.Wait()
	if db.Stats().LastSnapshot.IsZero() {
		t.Error("stats know of no snapshot")
	}
}

func TestLeftoversAreRemovedAndNewFilesAppearWhole(t *testing.T) {
	path := tempPath(t)
	for _, name := range []string{temporary(path), temporary(path + ".snapshot-000001")} {
		if err := os.WriteFile(name, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, report := startReport(t, path, Options{})
	if report != (Report{Created: true}) {
		t.Errorf("report %+v", report)
	}
	wantOnly(t, path, "", ".lock")
}

func TestMostlyFreeFileIsCompacted(t *testing.T) {
	path := tempPath(t)
	db := start(t, path, Options{})
	push(t, db, log, 10)
	update(t, db, func(tx *Tx) error {
		for i := range 400 {
			if err := records.Put(tx, fmt.Sprint(i), record{strings.Repeat("c", 20_000), i}); err != nil {
				return err
			}
		}
		return nil
	})
	update(t, db, func(tx *Tx) error {
		_, err := log.Trim(tx, 9)
		for i := range 399 {
			err = errors.Join(err, records.Delete(tx, fmt.Sprint(i)))
		}
		return err
	})
	stop(t, db)
	db, report := startReport(t, path, Options{})
	if report.Compacted < 6<<20 {
		t.Errorf("report %+v", report)
	}
	view(t, db, func(tx *Tx) error {
		r, err := records.Get(tx, "399")
		if err != nil || r.N != 399 || log.Len(tx) != 1 || log.Last(tx) != 10 {
			t.Errorf("row %d, %v, queue %d of %d", r.N, err, log.Len(tx), log.Last(tx))
		}
		return nil
	})
	if last := push(t, db, log, 1); last != 11 {
		t.Errorf("the next number is %d", last)
	}
	stop(t, db)
	_, report = startReport(t, path, Options{})
	if report != (Report{}) {
		t.Errorf("opened again: %+v", report)
	}
}
