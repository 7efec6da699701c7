package queue

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"roomgate/store/layout"
	"roomgate/store/pages"
	"roomgate/store/sealed"
	"roomgate/store/undo"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.etcd.io/bbolt"
	"pgregory.net/rapid"
)

// rig is one queue in a file.
type rig struct {
	db *bbolt.DB
	o  Options
}

type failer interface {
	Fatal(args ...any)
}

func newRig(t failer, path string) rig {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true, NoFreelistSync: true, PageSize: 4096})
	if err != nil {
		t.Fatal(err)
	}
	return rig{db, Options{Bucket: layout.Queue("rows"), Tailed: true, Encoder: sealed.New()}}
}

// row is one that the queue must hold.
type row struct {
	Seq   uint64
	Value string
}

// model is what the queue must hold, and count.
type model struct {
	rows          []row
	last, dropped uint64
}

func (m *model) push(w *undo.Writer, h *Head, value string) error {
	m.last = h.Last() + 1
	m.rows = append(m.rows, row{m.last, value})
	key := layout.Key(m.last)
	raw, err := h.enc.Encode(h.seed, key, value)
	return errors.Join(err, h.Push(w, m.last, key, raw))
}

func (m *model) drop(w *undo.Writer, h *Head) error {
	if len(m.rows) == 0 {
		return nil
	}
	m.rows, m.dropped = m.rows[1:], m.dropped+1
	return h.DropOldest(w)
}

func (m *model) trim(w *undo.Writer, h *Head, upTo uint64) error {
	kept := slices.DeleteFunc(slices.Clone(m.rows), func(r row) bool { return r.Seq <= upTo })
	n, err := h.Trim(w, upTo)
	if want := len(m.rows) - len(kept); err == nil && n != want {
		err = fmt.Errorf("trimmed %d up to %d, want %d", n, upTo, want)
	}
	m.rows = kept
	return err
}

// stored reads all rows, as the buckets have them.
func (r rig) stored(tx *bbolt.Tx, main *bbolt.Bucket) (all []row, err error) {
	parts, err := Tail(tx, main, r.o)
	if err != nil {
		return nil, err
	}
	h, err := Open(tx, main, r.o)
	if err != nil {
		return nil, err
	}
	for _, part := range append([]Part{{main, h.seed}}, parts...) {
		c := part.Bucket.Cursor()
		for k, raw := c.Seek(layout.Key(1)); k != nil; k, raw = c.Next() {
			var v string
			if err := sealed.Decode(part.Seed, k, raw, &v); err != nil {
				return nil, err
			}
			n, _ := layout.Number(k)
			all = append(all, row{n, v})
		}
	}
	return all, nil
}

func (r rig) compare(tx *bbolt.Tx, m model) error {
	main := tx.Bucket(r.o.Bucket)
	if main == nil {
		return nil
	}
	all, err := r.stored(tx, main)
	if err != nil {
		return err
	}
	h, err := Open(tx, main, r.o)
	if err != nil {
		return err
	}
	first := uint64(0)
	if len(m.rows) > 0 {
		first = m.rows[0].Seq
	}
	want, got := []uint64{m.last, first, uint64(len(m.rows)), m.dropped}, []uint64{h.Last(), h.First(), uint64(h.Len()), h.Dropped()}
	if diff := cmp.Diff(want, got) + cmp.Diff(m.rows, all, cmpopts.EquateEmpty()); diff != "" {
		return fmt.Errorf("the queue differs: %.2000s", diff)
	}
	return nil
}

// function does a few things to the queue, all of which are taken back if it fails.
func (r rig) function(t *rapid.T, tx *bbolt.Tx, m *model) error {
	next, w := model{slices.Clone(m.rows), m.last, m.dropped}, undo.New(tx, nil)
	b, err := w.Bucket(r.o.Bucket)
	if err != nil {
		return err
	}
	h, err := Open(tx, b, r.o)
	if err != nil {
		return err
	}
	if h.Tailed() {
		h.Direct(rapid.IntRange(0, 5).Draw(t, "direct") == 0)
	}
	size := rapid.SampledFrom([]int{1, 40, 400, 400, 1500, 5000}).Draw(t, "size")
	for range rapid.SampledFrom([]int{1, 1, 1, 2, 3, 20, 120}).Draw(t, "rows") {
		err = errors.Join(err, next.push(&w, h, strings.Repeat("v", size)))
	}
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0:
		err = errors.Join(err, next.trim(&w, h, next.last-min(next.last, uint64(rapid.IntRange(0, 40).Draw(t, "place")))))
	case 1:
		next.last += 1000
		err = errors.Join(err, h.Skip(&w, next.last))
	case 2, 3, 4, 5:
		err = errors.Join(err, next.drop(&w, h))
	}
	if err = errors.Join(err, h.Flush(&w)); err != nil {
		return err
	}
	if rapid.IntRange(0, 4).Draw(t, "fails") == 0 {
		return w.TakeBack()
	}
	*m = next
	return nil
}

// TestModel does random functions to a queue with a tail and to a slice: rows of all sizes, few and many at a time,
// several functions in a transaction, some undone, and at times no row left in the tail.
func TestModel(t *testing.T) {
	t.Parallel()
	dir, n := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		r := newRig(t, filepath.Join(dir, fmt.Sprint(n)))
		defer r.db.Close()
		var m model
		for range rapid.IntRange(1, 20).Draw(t, "transactions") {
			err := r.db.Update(func(tx *bbolt.Tx) error {
				r.o.Encoder.Reset()
				for range rapid.IntRange(1, 3).Draw(t, "functions") {
					if err := errors.Join(r.function(t, tx, &m), r.compare(tx, m)); err != nil {
						return err
					}
				}
				if rapid.IntRange(0, 7).Draw(t, "empty") == 0 {
					w := undo.New(tx, nil)
					return EmptyTails(tx, &w, r.o.Encoder, false)
				}
				return nil
			})
			if err = errors.Join(err, r.db.View(func(tx *bbolt.Tx) error { return r.compare(tx, m) })); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// pushed makes a queue of one old row and n others, of which the youngest are in the tail.
func pushed(t *testing.T, n int) rig {
	t.Helper()
	r := newRig(t, filepath.Join(t.TempDir(), "queue.db"))
	t.Cleanup(func() { _ = r.db.Close() })
	var m model
	for i := range n + 1 {
		r.write(t, func(w *undo.Writer, h *Head) error { return m.push(w, h, fmt.Sprint(i)) })
	}
	return r
}

func (r rig) write(t *testing.T, fn func(*undo.Writer, *Head) error) {
	t.Helper()
	err := r.db.Update(func(tx *bbolt.Tx) error {
		w := undo.New(tx, nil)
		b, err := w.Bucket(r.o.Bucket)
		if err != nil {
			return err
		}
		h, err := Open(tx, b, r.o)
		if err != nil {
			return err
		}
		return errors.Join(fn(&w, h), h.Flush(&w))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestWhoKnowsNoTail sees the old row, and gives no number that the tail has given. Once it has, the rows of the tail get
// their places.
func TestWhoKnowsNoTail(t *testing.T) {
	r := pushed(t, 5)
	earlier := r
	earlier.o.Tailed = false
	err := r.db.View(func(tx *bbolt.Tx) error {
		main := tx.Bucket(r.o.Bucket)
		tail, err := Tail(tx, main, r.o)
		if h, wrong := Open(tx, main, earlier.o); len(tail) == 0 || wrong != nil || h.First() != 1 || h.Last() <= 6 {
			t.Errorf("the tail has %d buckets; without it: %v, %+v", len(tail), wrong, h)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var m model
	earlier.write(t, func(w *undo.Writer, h *Head) error { return m.push(w, h, "by the earlier one") })
	err = r.db.Update(func(tx *bbolt.Tx) error {
		w := undo.New(tx, nil)
		if err := EmptyTails(tx, &w, r.o.Encoder, true); err != nil {
			return err
		}
		all, err := r.stored(tx, tx.Bucket(r.o.Bucket))
		want := []row{{1, "0"}, {2, "1"}, {3, "2"}, {4, "3"}, {5, "4"}, {6, "5"}, {m.last, "by the earlier one"}}
		if diff := cmp.Diff(want, all); diff != "" {
			t.Errorf("rows: %s", diff)
		}
		tail, err2 := Tail(tx, tx.Bucket(r.o.Bucket), r.o)
		if len(tail) != 0 {
			t.Errorf("the tail still has %d buckets", len(tail))
		}
		return errors.Join(err, err2)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestSettledRowCanBeChanged where it stays.
func TestSettledRowCanBeChanged(t *testing.T) {
	r := pushed(t, 5)
	key := layout.Key(4)
	r.write(t, func(w *undo.Writer, h *Head) error {
		if h.bucket.Get(key) != nil {
			t.Error("the row is not in the tail, so this proves nothing")
		}
		err := h.Settle(w, 4)
		var got string
		wrong := sealed.Decode(h.seed, key, h.bucket.Get(key), &got)
		if got != "3" {
			t.Errorf("settled as %q", got)
		}
		return errors.Join(err, wrong)
	})
}

// TestStateIsOfTheStoredForm, which files of earlier versions have.
func TestStateIsOfTheStoredForm(t *testing.T) {
	r := pushed(t, 5)
	r.write(t, func(w *undo.Writer, h *Head) error { return errors.Join(h.DropOldest(w), h.DropOldest(w)) })
	err := r.db.View(func(tx *bbolt.Tx) error {
		raw := tx.Bucket(r.o.Bucket).Get(layout.StateKey)
		var state layout.State
		if err := json.Unmarshal(raw[pages.ValueHeader:], &state); err != nil {
			return err
		}
		if diff := cmp.Diff(layout.State{Dropped: 2}, state); diff != "" {
			t.Error(diff)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
