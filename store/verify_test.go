package store

import (
	"context"
	"errors"
	"os"
	"testing"

	"roomgate/store/pages"
	"roomgate/store/undo"
)

// A power cut may ruin the header that is being written, at any commit, also the first. The other one holds all that
// was acknowledged.
func TestEitherHeaderIsEnough(t *testing.T) {
	for header := range int64(2) {
		for _, rows := range []int{0, 1, 2} {
			path := tempPath(t)
			db := start(t, path, Options{})
			for range rows {
				push(t, db, log, 1)
			}
			stop(t, db)
			file, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			_, err = file.WriteAt(make([]byte, pages.PageSize), header*pages.PageSize)
			if err := errors.Join(err, file.Close()); err != nil {
				t.Fatal(err)
			}
			db, report := startReport(t, path, Options{})
			if report != (Report{}) {
				t.Errorf("without header %d, %d rows: %+v", header, rows, report)
			}
			push(t, db, log, 1)
			view(t, db, func(tx *Tx) error {
				if n := log.Len(tx); n < rows || n > rows+1 {
					t.Errorf("without header %d: %d rows of %d", header, n-1, rows)
				}
				return nil
			})
		}
	}
}

func TestVerifyLeavesOtherThingsAlone(t *testing.T) {
	dir := t.TempDir()
	if err := Verify(dir); err == nil || errors.Is(err, ErrDamaged) {
		t.Errorf("a folder: %v", err)
	}
	if err := Verify(dir + "/none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, _, err := Open(context.Background(), dir, Options{}); err == nil || errors.Is(err, ErrDamaged) {
		t.Errorf("opened a folder: %v", err)
	}
}

func TestVerifyFindsRowsAboveTheLastNumber(t *testing.T) {
	path := tempPath(t)
	db, _, err := Open(context.Background(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	push(t, db, log, 3)
	update(t, db, func(tx *Tx) error {
		var saved *undo.Writer
		return tx.writes.SetSequence(tx.bolt.Bucket(log.bucket), &saved, 2)
	})
	stop(t, db)
	wantError(t, Verify(path), ErrDamaged)
}
