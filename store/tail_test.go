package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"roomgate/store/disk"
	"roomgate/store/layout"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.etcd.io/bbolt"
	"pgregory.net/rapid"
)

const tailedMax = 300

var (
	tailedQueue  = NewQueue[string]("tailed", tailedMax, DropOldest).Tailed()
	earlierQueue = NewQueue[string]("tailed", tailedMax, DropOldest) // as a program has it that knows no tails
)

// tailedModel is what the queue must hold.
type tailedModel struct {
	rows    []Item[string]
	last    uint64
	dropped uint64
}

func (m tailedModel) clone() tailedModel {
	m.rows = slices.Clone(m.rows)
	return m
}

func (m *tailedModel) push(tx *Tx, q Queue[string], value string) error {
	m.last++
	m.rows = append(m.rows, Item[string]{m.last, value})
	if len(m.rows) > tailedMax {
		m.rows = m.rows[1:]
		m.dropped++
	}
	seq, err := q.Push(tx, value)
	if err == nil && seq != m.last {
		err = fmt.Errorf("pushed as %d, want %d", seq, m.last)
	}
	return err
}

func (m *tailedModel) trim(tx *Tx, upTo uint64) error {
	kept := slices.DeleteFunc(slices.Clone(m.rows), func(i Item[string]) bool { return i.Seq <= upTo })
	n, err := tailedQueue.Trim(tx, upTo)
	if want := len(m.rows) - len(kept); err == nil && n != want {
		err = fmt.Errorf("trimmed %d up to %d, want %d", n, upTo, want)
	}
	m.rows = kept
	return err
}

func (m *tailedModel) set(tx *Tx, i int, value string) error {
	m.rows[i].Value = value
	return tailedQueue.Set(tx, m.rows[i].Seq, value)
}

// compare reads everything in every way, from the middle too.
func (m *tailedModel) compare(tx *Tx) error {
	q, n := tailedQueue, len(m.rows)
	got := []uint64{q.Last(tx), q.First(tx), uint64(q.Len(tx)), q.Dropped(tx)}
	want := []uint64{m.last, 0, uint64(n), m.dropped}
	middle := uint64(0)
	if n > 0 {
		want[1], middle = m.rows[0].Seq, m.rows[n*2/3].Seq
	}
	all, err := q.After(tx, 0, 10*tailedMax)
	part, err2 := q.After(tx, middle, 5)
	back, err3 := q.Before(tx, 1<<60, 10*tailedMax)
	slices.Reverse(back)
	same := cmpopts.EquateEmpty()
	wantPart := m.rows[min(n, n*2/3+1):]
	diff := cmp.Diff(want, got) + cmp.Diff(m.rows, all, same) + cmp.Diff(m.rows, back, same) + cmp.Diff(wantPart[:min(5, len(wantPart))], part, same)
	err = errors.Join(err, err2, err3, tx.Err())
	for _, i := range []int{0, n / 2, n - 1} {
		if i < 0 || i >= n {
			continue
		}
		if v, err := q.Get(tx, m.rows[i].Seq); err != nil || v != m.rows[i].Value {
			return fmt.Errorf("row %d: %.20q, %w", m.rows[i].Seq, v, err)
		}
	}
	if diff != "" {
		err = errors.Join(err, fmt.Errorf("the queue differs: %.3000s", diff))
	}
	return err
}

// cut ends the use of a database as a power cut does.
func cut(db *DB) error {
	db.writes.close()
	return errors.Join(db.bolt.Close(), disk.Unlock(db.lock))
}

// TestTailedQueueModel does random transactions to a queue with a tail and to a slice: rows of all sizes, few and many
// at a time, some undone, with a clean end or a power cut between.
func TestTailedQueueModel(t *testing.T) {
	t.Parallel()
	dir, n := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		path := filepath.Join(dir, fmt.Sprint(n), "tailed.db")
		db := modelOpen(t, path)
		m := tailedModel{}
		for range rapid.IntRange(1, 20).Draw(t, "transactions") {
			kind := rapid.IntRange(0, 9).Draw(t, "kind")
			fails := rapid.IntRange(0, 4).Draw(t, "fails") == 0
			rows := rapid.SampledFrom([]int{1, 1, 1, 2, 3, 20, 120}).Draw(t, "rows")
			size := rapid.SampledFrom([]int{1, 40, 400, 400, 1500, 5000}).Draw(t, "size")
			place := rapid.IntRange(0, 40).Draw(t, "place")
			err := db.Update(context.Background(), func(tx *Tx) error {
				next := m.clone()
				var err error
				switch {
				case kind == 0:
					err = next.trim(tx, m.last-min(m.last, uint64(place)))
				case kind == 1 && len(m.rows) > 0:
					err = next.set(tx, max(0, len(m.rows)-1-place), strings.Repeat("s", size))
				default:
					for i := 0; i < rows && err == nil; i++ {
						err = next.push(tx, tailedQueue, strings.Repeat("v", size+i%3))
					}
				}
				if err = errors.Join(err, next.compare(tx)); err != nil {
					return err
				}
				if fails {
					return errUndo
				}
				m = next
				return nil
			})
			if err != nil && !(fails && errors.Is(err, errUndo)) {
				t.Fatal(err)
			}
			if err := db.View(m.compare); err != nil {
				t.Fatal(err)
			}
			switch rapid.IntRange(0, 7).Draw(t, "end") {
			case 0:
				if err := errors.Join(db.Close(), Verify(path)); err != nil {
					t.Fatal(err)
				}
				db = modelOpen(t, path)
			case 1:
				if err := errors.Join(cut(db), Verify(path)); err != nil {
					t.Fatal(err)
				}
				db = modelOpen(t, path)
			}
		}
		if err := errors.Join(db.Close(), Verify(path)); err != nil {
			t.Fatal(err)
		}
	})
}

// TestAnEarlierVersionAndTails: after a clean end an earlier version sees each row. After a power cut it lacks the
// youngest, gives no number twice, and this one sees those of both.
func TestAnEarlierVersionAndTails(t *testing.T) {
	for _, clean := range []bool{true, false} {
		for _, before := range []int{0, 1, 500} { // rows that are where they stay
			t.Run(fmt.Sprint(clean, before), func(t *testing.T) {
				path := tempPath(t)
				db := start(t, path, Options{})
				earlierDB := func() { // has the bbolt of this program, and no tails
					update(t, db, func(tx *Tx) error {
						for range before {
							if _, err := earlierQueue.Push(tx, "old"); err != nil {
								return err
							}
						}
						return nil
					})
				}
				earlierDB()
				const rows = 40
				for range rows {
					push1(t, db, tailedQueue, strings.Repeat("n", 300))
				}
				last := uint64(before + rows)
				if clean {
					stop(t, db)
				} else if err := cut(db); err != nil {
					t.Fatal(err)
				}
				if err := Verify(path); err != nil { // as the earlier version does
					t.Fatal(err)
				}
				b, err := bbolt.Open(path, 0o600, boltOptions(Options{}.withDefaults()))
				if err != nil {
					t.Fatal(err)
				}
				db = newDB(path, Options{}.withDefaults(), b)
				var seen int
				var given uint64
				update(t, db, func(tx *Tx) (err error) {
					items, err := earlierQueue.After(tx, 0, 1000)
					if seen = len(items); err != nil {
						return err
					}
					given, err = earlierQueue.Push(tx, "by the earlier one")
					return err
				})
				if err := errors.Join(b.Close(), Verify(path)); err != nil {
					t.Fatal(err)
				}
				want := min(before+rows, tailedMax)
				if clean && (seen != want || given != last+1) || !clean && (seen > want || seen < want-rows || given <= last) {
					t.Errorf("the earlier version saw %d of %d rows and gave %d after %d", seen, want, given, last)
				}
				db = start(t, path, Options{})
				view(t, db, func(tx *Tx) error {
					items, err := tailedQueue.After(tx, 0, 1000)
					if n := tailedQueue.Len(tx); n != len(items) || n != min(want+1, tailedMax) && n != want+1 {
						t.Errorf("%d rows, counted as %d, want %d", len(items), n, want+1)
					}
					newest := items[max(0, len(items)-1-rows):]
					if newest[len(newest)-1].Seq != given || newest[len(newest)-2].Seq != last || !slices.IsSortedFunc(items, func(a, b Item[string]) int { return int(a.Seq) - int(b.Seq) }) {
						t.Errorf("rows %v", numbersOf(newest))
					}
					return err
				})
				if seq := push1(t, db, tailedQueue, "next"); seq != given+1 {
					t.Errorf("goes on with %d after %d", seq, given)
				}
			})
		}
	}
}

// TestAnEarlierVersionEmptiesTheQueue: it goes on after a power cut, and takes all rows that it sees. No number is given twice
// then, and the rows that it did not see are there.
func TestAnEarlierVersionEmptiesTheQueue(t *testing.T) {
	for _, pushed := range []int{0, 1, 5000} { // rows that it adds first
		path := tempPath(t)
		db := start(t, path, Options{})
		push1(t, db, tailedQueue, "old")
		for range 4 {
			push1(t, db, tailedQueue, strings.Repeat("n", 300))
		}
		if err := cut(db); err != nil {
			t.Fatal(err)
		}
		b, err := bbolt.Open(path, 0o600, boltOptions(Options{}.withDefaults()))
		if err != nil {
			t.Fatal(err)
		}
		db = newDB(path, Options{}.withDefaults(), b)
		given := uint64(0)
		update(t, db, func(tx *Tx) (err error) {
			for range pushed {
				if given, err = earlierQueue.Push(tx, "by the earlier one"); err != nil {
					return err
				}
			}
			_, err = earlierQueue.Trim(tx, 1<<60)
			return err
		})
		if err := errors.Join(b.Close(), Verify(path)); err != nil {
			t.Fatal(err)
		}
		db = start(t, path, Options{})
		view(t, db, func(tx *Tx) error {
			items, err := tailedQueue.After(tx, 0, 100)
			if n := tailedQueue.Len(tx); n != 4 || len(items) != 4 || items[3].Seq != 5 {
				t.Errorf("after it pushed %d: rows %v, counted as %d", pushed, numbersOf(items), n)
			}
			return err
		})
		if seq := push1(t, db, tailedQueue, "next"); seq <= max(given, 5) {
			t.Errorf("%d is given after %d", seq, given)
		}
		stop(t, db)
		if err := Verify(path); err != nil {
			t.Error(err)
		}
	}
}

func numbersOf(items []Item[string]) (all []uint64) {
	for _, i := range items {
		all = append(all, i.Seq)
	}
	return all
}

func push1(t *testing.T, db *DB, q Queue[string], value string) (seq uint64) {
	t.Helper()
	update(t, db, func(tx *Tx) (err error) { seq, err = q.Push(tx, value); return err })
	return seq
}

// TestRepairKeepsTheTail: the rows of a tail are among those of the queue then, and the note speaks of the queue alone.
func TestRepairKeepsTheTail(t *testing.T) {
	path := tempPath(t)
	db := start(t, path, Options{})
	for i := range 30 {
		push1(t, db, tailedQueue, fmt.Sprint(i, strings.Repeat("t", 300)))
	}
	push(t, db, log, 1)
	if err := cut(db); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	raw = bytes.ReplaceAll(raw, fmt.Append(nil, 20, "tttt"), fmt.Append(nil, 20, "harm")) // row 21, wherever it is
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	var seen []string
	_, err = ReadAside(t.Context(), path, Options{}, func(r StoredRow) error {
		if r.Bucket == tailedQueue.Bucket() {
			seen = append(seen, r.Key)
		}
		return nil
	})
	if err != nil || len(seen) != 29 || seen[28] != "30" {
		t.Errorf("who looks at the file sees rows %v, %v", seen, err)
	}
	db, report, err := Open(t.Context(), path, Options{Names: []string{tailedQueue.Bucket()}})
	if err != nil || report.Repair == nil {
		t.Fatalf("%v, %+v", err, report)
	}
	defer stop(t, db)
	if r := report.Repair; !r.Doubtful(tailedQueue.Bucket()) || slices.ContainsFunc(r.Tables, func(t TableRepair) bool { return layout.IsTail(t.Name) }) {
		t.Errorf("the note says %+v", r.Tables)
	}
	view(t, db, func(tx *Tx) error {
		items, err := tailedQueue.After(tx, 0, 100)
		if len(items) != 29 || items[len(items)-1].Seq != 30 || tx.bolt.Bucket(layout.TailsOf(tailedQueue.bucket)[1]) != nil {
			t.Errorf("rows %v", numbersOf(items))
		}
		if n := tailedQueue.Len(tx); n != len(items) {
			t.Errorf("counted as %d rows of %d", n, len(items))
		}
		return err
	})
	if seq := push1(t, db, tailedQueue, "next"); seq <= 30 {
		t.Errorf("went on with %d", seq)
	}
}

// TestTailIsCheap: a row alone costs a header and the page of all buckets, and each second or third a page of the tail.
func TestTailIsCheap(t *testing.T) {
	db := start(t, tempPath(t), Options{})
	defer stop(t, db)
	const rows = 30_000
	fillQueue := func(n int) {
		update(t, db, func(tx *Tx) error {
			for range n {
				if _, err := tailedLong.Push(tx, strings.Repeat("l", 400)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	fillQueue(rows)
	fillQueue(1)
	fillQueue(1)
	fillQueue(1)
	fillQueue(1)
	before := db.Stats().BytesWritten
	const n = 100
	for range n {
		fillQueue(1)
	}
	if each := (db.Stats().BytesWritten - before) / n; each > 12_000 {
		t.Errorf("%d bytes for a row of 400 in a queue of %d, want at most 12,000", each, rows)
	}
}

var tailedLong = NewQueue[string]("long", 100_000, DropOldest).Tailed()
