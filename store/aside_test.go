package store

import (
	"errors"
	"testing"

	"go.etcd.io/bbolt"

	"roomgate/store/pages"
	"roomgate/store/sealed"
)

// TestRowOfAQueueWithoutANumber puts rows with good sums and keys of other
// lengths into a queue: they are counted as lost, by who looks at the file and by
// its repair.
func TestRowOfAQueueWithoutANumber(t *testing.T) {
	path := t.TempDir() + "/odd.db"
	q := NewQueue[string]("log", 10, DropOldest)
	db, _, err := Open(t.Context(), path, Options{Schema: 1, Names: []string{q.Bucket()}})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(t.Context(), func(tx *Tx) error { _, err := q.Push(tx, "one"); return err })
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	odd, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = odd.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte(q.Bucket()))
		for _, key := range []string{"a", "abc", "\xff\xff\xff\xff\xff\xff\xff", "\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
			raw, err := sealed.New().Encode(pages.Seed([]byte(q.Bucket())), []byte(key), "odd")
			if err = errors.Join(err, b.Put([]byte(key), raw)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := odd.Close(); err != nil {
		t.Fatal(err)
	}

	var rows []string
	found, err := ReadAside(t.Context(), path, func(r StoredRow) error {
		if r.Bucket == q.Bucket() {
			rows = append(rows, r.Key)
		}
		return nil
	})
	if err != nil || len(rows) != 1 || rows[0] != "1" {
		t.Errorf("rows %q, %v", rows, err)
	}
	lost := 0
	for _, table := range found.Tables {
		lost += table.Lost
	}
	if lost != 4 {
		t.Errorf("%d rows are lost: %+v", lost, found.Tables)
	}

	db, report, err := Open(t.Context(), path, Options{Schema: 1, Names: []string{q.Bucket()}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.View(func(tx *Tx) error {
		if v, err := q.Get(tx, 1); err != nil || v != "one" {
			t.Errorf("after the repair: %q, %v, %+v", v, err, report)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
