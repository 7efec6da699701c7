package store

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTableKeepsRowsOverReopen(t *testing.T) {
	path := tempPath(t)
	db := start(t, path, Options{})
	update(t, db, func(tx *Tx) error {
		return errors.Join(records.Put(tx, "b", record{"two", 2}), records.Put(tx, "a", record{"one <&>", 1}),
			records.Put(tx, "c", record{"three", 3}), records.Delete(tx, "b"), records.Delete(tx, "never"))
	})
	stop(t, db)
	db = start(t, path, Options{})
	view(t, db, func(tx *Tx) error {
		want := map[string]record{"a": {"one <&>", 1}, "c": {"three", 3}}
		if diff := cmp.Diff(want, maps.Collect(records.All(tx))); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(map[string]record{"c": {"three", 3}}, maps.Collect(records.From(tx, "b"))); diff != "" {
			t.Error(diff)
		}
		if n := records.Len(tx); n != 2 {
			t.Errorf("length %d", n)
		}
		_, err := records.Get(tx, "b")
		wantError(t, err, ErrNotFound)
		if !strings.Contains(err.Error(), `table "record", key "b"`) {
			t.Errorf("error does not name the row: %v", err)
		}
		return nil
	})
}

func TestMissingTableAndQueueAreEmpty(t *testing.T) {
	db := start(t, tempPath(t), Options{})
	before := db.Stats().Commits
	empty := func(tx *Tx) error {
		_, err := records.Get(tx, "a")
		wantError(t, err, ErrNotFound)
		_, err = log.Get(tx, 1)
		wantError(t, err, ErrNotFound)
		items, err := log.After(tx, 0, 10)
		for what, n := range map[string]uint64{"records": uint64(records.Len(tx)), "rows": uint64(log.Len(tx)), "first": log.First(tx), "last": log.Last(tx),
			"dropped": log.Dropped(tx), "items": uint64(len(items))} {
			if n != 0 {
				t.Errorf("%s: %d, want 0", what, n)
			}
		}
		return err
	}
	view(t, db, empty)
	update(t, db, func(tx *Tx) error {
		wantError(t, log.Set(tx, 1, record{}), ErrNotFound)
		_, err := log.Trim(tx, 9)
		return errors.Join(empty(tx), records.Delete(tx, "a"), err)
	})
	if n := db.Stats().Commits; n != before {
		t.Errorf("reading and removing nothing made %d commits", n-before)
	}
}

func TestBadInputChangesNothing(t *testing.T) {
	db := start(t, tempPath(t), Options{})
	odd := NewTable[any]("odd")
	cases := map[string]func(tx *Tx) error{
		"empty key":     func(tx *Tx) error { return odd.Put(tx, "", 1) },
		"long key":      func(tx *Tx) error { return odd.Put(tx, strings.Repeat("k", maxKey+1), 1) },
		"no JSON":       func(tx *Tx) error { return odd.Put(tx, "k", func() {}) },
		"long value":    func(tx *Tx) error { return odd.Put(tx, "k", strings.Repeat("v", MaxValueSize)) },
		"queue no JSON": func(tx *Tx) error { _, err := NewQueue[any]("odd", 1, Refuse).Push(tx, func() {}); return err },
		"queue max 0":   func(tx *Tx) error { _, err := NewQueue[any]("odd", 0, Refuse).Push(tx, 1); return err },
	}
	for name, bad := range cases {
		t.Run(name, func(t *testing.T) {
			if err := db.Update(context.Background(), bad); err == nil {
				t.Error("accepted")
			}
			// A function that goes on after the error stores nothing of the refused value either.
			update(t, db, func(tx *Tx) error { _ = bad(tx); return odd.Put(tx, "good", 1) })
			view(t, db, func(tx *Tx) error {
				if n := odd.Len(tx) + NewQueue[any]("odd", 1, Refuse).Len(tx); n != 1 {
					t.Errorf("%d rows", n)
				}
				return nil
			})
		})
	}
}

func TestUnchangedRowWritesNothing(t *testing.T) {
	db := start(t, tempPath(t), Options{})
	put := func(tx *Tx) error { return records.Put(tx, "a", record{"same", 1}) }
	update(t, db, put)
	before := db.Stats()
	for range 10 {
		update(t, db, put)
	}
	after := db.Stats()
	if after.Commits != before.Commits || after.BytesWritten != before.BytesWritten {
		t.Errorf("%d commits, %d bytes for nothing", after.Commits-before.Commits, after.BytesWritten-before.BytesWritten)
	}
	if after.Updates != before.Updates+10 {
		t.Errorf("%d updates counted", after.Updates-before.Updates)
	}
}

func TestWalkSurvivesWritesInItsLoop(t *testing.T) {
	db := start(t, tempPath(t), Options{})
	update(t, db, func(tx *Tx) error {
		for _, k := range strings.Split("abcdefghij", "") {
			if err := records.Put(tx, k, record{k, 0}); err != nil {
				return err
			}
		}
		return nil
	})
	var met []string
	update(t, db, func(tx *Tx) error {
		for k, r := range records.All(tx) {
			met = append(met, k)
			if err := errors.Join(records.Delete(tx, k), records.Put(tx, "A"+k, r)); err != nil {
				return err
			}
		}
		return nil
	})
	if got := strings.Join(met, ""); got != "abcdefghij" {
		t.Errorf("met %s", got)
	}
	view(t, db, func(tx *Tx) error {
		keys := slices.Collect(maps.Keys(maps.Collect(records.All(tx))))
		if len(keys) != 10 || !strings.HasPrefix(slices.Min(keys), "A") || !strings.HasPrefix(slices.Max(keys), "A") {
			t.Errorf("keys %v", keys)
		}
		return nil
	})
}

func TestTxEndsWithItsFunction(t *testing.T) {
	db := start(t, tempPath(t), Options{})
	var kept *Tx
	update(t, db, func(tx *Tx) error { kept = tx; return records.Put(tx, "a", record{}) })
	_, err := records.Get(kept, "a")
	wantError(t, err, ErrTxClosed)
	wantError(t, records.Put(kept, "a", record{}), ErrTxClosed)
	view(t, db, func(tx *Tx) error {
		kept = tx
		wantError(t, records.Put(tx, "a", record{}), ErrReadOnly)
		wantError(t, records.Delete(tx, "a"), ErrReadOnly)
		_, err := log.Push(tx, record{})
		wantError(t, err, ErrReadOnly)
		return nil
	})
	_, err = records.Get(kept, "a")
	wantError(t, err, ErrTxClosed)
}
