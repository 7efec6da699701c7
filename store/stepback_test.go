package store

import (
	"errors"
	"os"
	"testing"
)

func TestStepBack(t *testing.T) {
	path := tempPath(t)
	numbers := NewQueue[record]("numbers", 100, DropOldest)
	push := func(db *DB, name string) (seq uint64) {
		update(t, db, func(tx *Tx) (err error) {
			seq, err = numbers.Push(tx, record{name, 1})
			return errors.Join(err, records.Put(tx, name, record{name, 1}))
		})
		return seq
	}
	db := start(t, path, Options{Schema: 2})
	push(db, "before")
	stop(t, db)
	if aside, err := StepBack(t.Context(), path, 2, Options{}); err != nil || aside != "" {
		t.Fatalf("without a migration: %q, %v", aside, err)
	}
	db = start(t, path, Options{Schema: 3})
	last := push(db, "during")
	if err := db.Snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	stop(t, db)
	if _, _, err := Open(t.Context(), path, Options{Schema: 2}); !errors.Is(err, ErrNewerSchema) {
		t.Fatalf("the older program opens it: %v", err)
	}

	aside, err := StepBack(t.Context(), path, 2, Options{})
	if err != nil || aside == "" {
		t.Fatalf("%q, %v", aside, err)
	}
	if again, err := StepBack(t.Context(), path, 2, Options{}); err != nil || again != "" {
		t.Errorf("again: %q, %v", again, err)
	}
	db = start(t, path, Options{Schema: 2})
	view(t, db, func(tx *Tx) error {
		_, before := records.Get(tx, "before")
		if _, during := records.Get(tx, "during"); before != nil || !errors.Is(during, ErrNotFound) {
			t.Errorf("before %v, during %v", before, during)
		}
		return nil
	})
	if seq := push(db, "after"); seq <= last {
		t.Errorf("the number %d was given twice, the last one was %d", seq, last)
	}
	stop(t, db)

	ahead := start(t, aside, Options{Schema: 3})
	view(t, ahead, func(tx *Tx) error {
		_, err := records.Get(tx, "during")
		return err
	})
	stop(t, ahead)

	// A repair does not go ahead again.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	db = start(t, path, Options{Schema: 2})
	stop(t, db)
}
