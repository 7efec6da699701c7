package store

import (
	"bytes"
	"errors"
	"maps"
	"os"
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
	found, err := ReadAside(t.Context(), path, Options{}, func(r StoredRow) error {
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

// TestReadAsideShowsWhatARepairKeeps: of a file of which only the first part is left, who looks at it sees the rows that the
// repair takes from it.
func TestReadAsideShowsWhatARepairKeeps(t *testing.T) {
	w := live(t, false)
	o, some := Options{Age: ages, Names: theNames}, 0
	for _, part := range []int{4, 8, 12, 16, 24} {
		path := tempPath(t)
		if err := os.WriteFile(path, w.good[:len(w.good)/part/pages.PageSize*pages.PageSize], 0o600); err != nil {
			t.Fatal(err)
		}
		before := readFile(t, path)
		seen := map[string]string{}
		found, err := ReadAside(t.Context(), path, o, func(r StoredRow) error {
			seen[r.Bucket+" "+r.Key] = string(r.Value)
			return nil
		})
		if err != nil || !bytes.Equal(before, readFile(t, path)) {
			t.Errorf("a part of 1/%d: %v, or the file has changed", part, err)
		}
		db, report := startReport(t, path, o)
		if report.Repair == nil {
			stop(t, db)
			continue // nothing of it was beyond
		}
		if sum, want := found.Sum(), report.Repair.Sum(); sum != want || sum.Kept+sum.Found+sum.Earlier != len(seen) {
			t.Errorf("a part of 1/%d shows %d rows of %+v, the repair takes %+v", part, len(seen), sum, want)
		}
		some += len(seen)
		stop(t, db)
		again := map[string]string{}
		if _, err := ReadAside(t.Context(), path, o, func(r StoredRow) error {
			again[r.Bucket+" "+r.Key] = string(r.Value)
			return nil
		}); err != nil || !maps.Equal(seen, again) {
			t.Errorf("a part of 1/%d: the repair has %d rows, shown were %d, %v", part, len(again), len(seen), err)
		}
	}
	if some == 0 {
		t.Error("no part has rows")
	}
}
