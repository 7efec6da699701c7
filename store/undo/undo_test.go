package undo

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"
)

// contents are all keys and values of a transaction, and the numbers that its buckets have given.
func contents(tx *bbolt.Tx) (all []string) {
	_ = tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
		all = append(all, fmt.Sprintf("%s %d", name, b.Sequence()))
		return b.ForEach(func(k, v []byte) error {
			all = append(all, fmt.Sprintf("%s %s=%s", name, k, v))
			return nil
		})
	})
	return all
}

// writeAll writes in each way.
func writeAll(t *testing.T, w *Writer, tx *bbolt.Tx) {
	t.Helper()
	old := tx.Bucket([]byte("old"))
	made, err := w.Bucket([]byte("made"))
	if err != nil {
		t.Fatal(err)
	}
	var saved *Writer
	for i, err := range []error{
		w.Put(made, []byte("k"), nil, []byte("v")),
		w.Change(old, []byte("a"), []byte("1"), []byte("three")),
		w.Change(old, []byte("b"), []byte("2"), []byte("2")),
		w.Delete(old, []byte("b"), []byte("2")),
		w.SetSequence(old, &saved, 8),
		w.SetSequence(old, &saved, 9),
	} {
		if err != nil {
			t.Fatalf("write %d: %v", i, err)
		}
	}
}

// TestWriter takes back what one Writer has written, and leaves what others have written to the same transaction.
func TestWriter(t *testing.T) {
	db, err := bbolt.Open(filepath.Join(t.TempDir(), "undo.db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.Update(func(tx *bbolt.Tx) error {
		first := New(tx, nil)
		old, err := first.Bucket([]byte("old"))
		if err != nil {
			return err
		}
		var saved *Writer
		for _, k := range []string{"a", "b"} {
			if err := first.Put(old, []byte(k), nil, fmt.Append(nil, 1+bytes.IndexByte([]byte("ab"), k[0]))); err != nil {
				return err
			}
		}
		if err := first.SetSequence(old, &saved, 7); err != nil {
			return err
		}
		before := contents(tx)
		second := New(tx, first.End())
		writeAll(t, &second, tx)
		if second.Count() != 5 || second.Grown() != len("kv")+len("three")-len("1")-len("b2") {
			t.Errorf("%d writes, grown by %d", second.Count(), second.Grown())
		}
		if diff := cmp.Diff([]string{"made 0", "made k=v", "old 9", "old a=three"}, contents(tx)); diff != "" {
			t.Errorf("written: %s", diff)
		}
		if err := second.TakeBack(); err != nil || second.Broken() || second.Count() != 0 || second.Grown() != 0 {
			t.Errorf("taken back: %v, %+v", err, second)
		}
		if diff := cmp.Diff(before, contents(tx)); diff != "" {
			t.Errorf("taken back: %s", diff)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestBrokenWriter: bbolt panics in the middle of a write.
func TestBrokenWriter(t *testing.T) {
	var w Writer
	func() {
		defer func() { _ = recover() }()
		_ = w.Put(nil, nil, nil, nil)
	}()
	if !w.Broken() {
		t.Error("a write that did not end is as if it had")
	}
}

// TestRoomIsBounded: one long function does not keep its room for ever.
func TestRoomIsBounded(t *testing.T) {
	if w := New(nil, make(Writes, 3, maxRoom)); cap(w.End()) != maxRoom {
		t.Error("the room of a usual function is given up")
	}
	if w := New(nil, make(Writes, 3, maxRoom+1)); w.End() != nil {
		t.Error("the room of a long function is kept")
	}
}
