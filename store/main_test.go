package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"
	"go.uber.org/goleak"

	"roomgate/store/pages"
)

// The test binary is also the child process of some tests.
const childMode = "STORE_TEST_CHILD"

func TestMain(m *testing.M) {
	if mode := os.Getenv(childMode); mode != "" {
		os.Exit(childMain(mode, os.Args[len(os.Args)-1]))
	}
	goleak.VerifyTestMain(m)
}

func childMain(mode, path string) int {
	switch mode {
	case "verify":
		if err := Verify(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	case "crash":
		panic("page 7 makes no sense")
	case "write":
		return writeUntilKilled(path)
	}
	fmt.Fprintln(os.Stderr, "unknown mode", mode)
	return 3
}

type record struct {
	Name string `json:"name"`
	N    int    `json:"n"`
}

var (
	records = NewTable[record]("record")
	log     = NewQueue[record]("log", 1000, DropOldest)
	outbox  = NewQueue[record]("outbox", 50, Refuse)
)

func tempPath(t testing.TB) string { return filepath.Join(t.TempDir(), "gateway.db") }

// start opens a database; the test ends with a check of the whole file.
func start(t testing.TB, path string, o Options) *DB {
	t.Helper()
	db, _ := startReport(t, path, o)
	return db
}

func startReport(t testing.TB, path string, o Options) (*DB, Report) {
	t.Helper()
	db, report, err := Open(context.Background(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop(t, db)
		if err := errors.Join(Verify(path), boltCheck(path)); err != nil {
			t.Error(err)
		}
	})
	return db, report
}

// boltCheck is another judge of a file that Verify calls sound. It does not take a header page of which a power cut left
// anything, although bbolt opens the file by the other one.
func boltCheck(path string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for i := range uint64(2) {
		if header := raw[i*pages.PageSize:]; little.Uint64(header) != i || little.Uint16(header[8:]) != flagMeta {
			return nil
		}
	}
	db, err := openReading(path)
	if err != nil {
		return err
	}
	defer db.Close()
	return db.View(func(tx *bbolt.Tx) (first error) {
		for err := range tx.Check() {
			first = cmp.Or(first, err)
		}
		return first
	})
}

func stop(t testing.TB, db *DB) {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

func update(t testing.TB, db *DB, fn func(*Tx) error) {
	t.Helper()
	if err := db.Update(context.Background(), fn); err != nil {
		t.Fatal(err)
	}
}

func view(t testing.TB, db *DB, fn func(*Tx) error) {
	t.Helper()
	if err := db.View(fn); err != nil {
		t.Fatal(err)
	}
}

func wantError(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error is %v, want %v", err, want)
	}
}

// push appends n records in one transaction and returns the last number.
func push(t testing.TB, db *DB, q Queue[record], n int) (last uint64) {
	t.Helper()
	update(t, db, func(tx *Tx) error {
		for i := range n {
			seq, err := q.Push(tx, record{"event", i})
			if err != nil {
				return err
			}
			last = seq
		}
		return nil
	})
	return last
}
