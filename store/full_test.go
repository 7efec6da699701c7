package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// fill puts rows of 80 kB until the store is full and returns how many it took.
func fill(t *testing.T, db *DB) int {
	t.Helper()
	for n := range 1000 {
		err := db.Update(context.Background(), func(tx *Tx) error {
			return records.Put(tx, fmt.Sprintf("%05d", n), record{strings.Repeat("f", 80_000), n})
		})
		if errors.Is(err, ErrFull) {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("the store never got full")
	return 0
}

// wantFullButAlive proves that a full store still reads, keeps what it has, can be emptied and filled again.
func wantFullButAlive(t *testing.T, db *DB, n int) {
	t.Helper()
	if !errors.Is(db.Stats().LastError, ErrFull) {
		t.Errorf("last error is %v", db.Stats().LastError)
	}
	view(t, db, func(tx *Tx) error {
		for k, r := range records.All(tx) {
			if k != fmt.Sprintf("%05d", r.N) {
				t.Errorf("row %s is %d", k, r.N)
			}
		}
		if records.Len(tx) != n {
			t.Errorf("%d rows, %d were acknowledged", records.Len(tx), n)
		}
		return tx.Err()
	})
	for i := range n {
		update(t, db, func(tx *Tx) error { return records.Delete(tx, fmt.Sprintf("%05d", i)) })
	}
	if again := fill(t, db); again < n*3/4 {
		t.Errorf("after emptying there is room for %d rows, before for %d", again, n)
	}
}

func TestSizeBudgetIsKept(t *testing.T) {
	t.Parallel()
	path := tempPath(t)
	const budget = 8 << 20
	db := start(t, path, Options{MaxSize: budget})
	n := fill(t, db)
	if n < 60 {
		t.Errorf("%d MB hold only %d rows of 80 kB", budget>>20, n)
	}
	wantSize := func(most int64) {
		t.Helper()
		info, err := os.Stat(path)
		if err != nil || info.Size() > most {
			t.Errorf("the file has %d bytes, %v", info.Size(), err)
		}
	}
	wantSize(budget - budget/16) // the rest is for emptying it
	wantFullButAlive(t, db, n)
	wantSize(budget)
}

func TestFullDiskIsAClearError(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=6m"); err != nil {
		t.Skipf("a small disk cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	db := start(t, filepath.Join(dir, "gateway.db"), Options{})
	n := fill(t, db)
	wantError(t, db.Snapshot(context.Background()), ErrFull)
	if left, err := filepath.Glob(filepath.Join(dir, "*.new")); err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
	wantFullButAlive(t, db, n)
}

func TestFailureOfAGroupReachesEveryCaller(t *testing.T) {
	t.Parallel()
	db := start(t, tempPath(t), Options{MaxSize: minMaxSize})
	n := fill(t, db)
	errs := writeAsOne(t, db, 5, func(i int) func(*Tx) error {
		return func(tx *Tx) error {
			return records.Put(tx, fmt.Sprint("group", i), record{strings.Repeat("g", 200_000), i})
		}
	})
	for _, err := range errs {
		wantError(t, err, ErrFull)
	}
	wantFullButAlive(t, db, n)
}

// A queue at its maximum on a full store goes on, since each new row replaces an old one.
func TestRingGoesOnWhenFull(t *testing.T) {
	db := start(t, tempPath(t), Options{MaxSize: minMaxSize})
	ring := NewQueue[record]("ring", 100, DropOldest)
	push(t, db, ring, 100)
	fill(t, db)
	for range 20 {
		push(t, db, ring, 20)
	}
}
