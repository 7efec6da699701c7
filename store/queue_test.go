package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func numbers(items []Item[record]) []uint64 {
	seqs := []uint64{}
	for _, i := range items {
		seqs = append(seqs, i.Seq)
	}
	return seqs
}

func TestQueueReadsBothWays(t *testing.T) {
	db := start(t, tempPath(t), Options{})
	push(t, db, log, 5)
	cases := []struct {
		back  bool
		from  uint64
		limit int
		want  []uint64
	}{
		{false, 0, 2, []uint64{1, 2}},
		{false, 2, 9, []uint64{3, 4, 5}},
		{false, 5, 9, []uint64{}},
		{false, 0, 0, []uint64{}},
		{false, 0, -1, []uint64{}},
		{false, math.MaxUint64, 9, []uint64{}},
		{true, math.MaxUint64, 2, []uint64{5, 4}},
		{true, 4, 9, []uint64{3, 2, 1}},
		{true, 1, 9, []uint64{}},
		{true, 0, 9, []uint64{}},
	}
	for _, c := range cases {
		t.Run(fmt.Sprint(c.back, c.from, c.limit), func(t *testing.T) {
			view(t, db, func(tx *Tx) error {
				read := log.After
				if c.back {
					read = log.Before
				}
				items, err := read(tx, c.from, c.limit)
				if diff := cmp.Diff(c.want, numbers(items)); diff != "" {
					t.Error(diff)
				}
				return err
			})
		})
	}
}

func TestQueueNumbersAreNeverReused(t *testing.T) {
	path := tempPath(t)
	db := start(t, path, Options{})
	if last := push(t, db, log, 7); last != 7 {
		t.Fatalf("last is %d", last)
	}
	trim := func(upTo uint64, want int) {
		t.Helper()
		update(t, db, func(tx *Tx) error {
			n, err := log.Trim(tx, upTo)
			if n != want {
				t.Errorf("trimmed %d rows, want %d", n, want)
			}
			return err
		})
	}
	trim(3, 3)
	trim(3, 0)
	trim(100, 4)
	stop(t, db)
	db = start(t, path, Options{})
	view(t, db, func(tx *Tx) error {
		if log.Len(tx) != 0 || log.First(tx) != 0 || log.Last(tx) != 7 {
			t.Errorf("length %d, first %d, last %d", log.Len(tx), log.First(tx), log.Last(tx))
		}
		return nil
	})
	if last := push(t, db, log, 1); last != 8 {
		t.Errorf("after trim and restart the next number is %d", last)
	}
}

func TestFullQueueDropsOldest(t *testing.T) {
	db := start(t, tempPath(t), Options{})
	short := NewQueue[record]("short", 3, DropOldest)
	push(t, db, short, 10)
	view(t, db, func(tx *Tx) error {
		items, err := short.After(tx, 0, 10)
		if diff := cmp.Diff([]uint64{8, 9, 10}, numbers(items)); diff != "" {
			t.Error(diff)
		}
		if short.Dropped(tx) != 7 || short.Len(tx) != 3 || short.First(tx) != 8 {
			t.Errorf("dropped %d, length %d, first %d", short.Dropped(tx), short.Len(tx), short.First(tx))
		}
		return err
	})
	lowered := NewQueue[record]("short", 1, DropOldest)
	push(t, db, lowered, 1)
	view(t, db, func(tx *Tx) error {
		if lowered.Len(tx) != 1 || lowered.First(tx) != 11 || lowered.Dropped(tx) != 10 {
			t.Errorf("length %d, first %d, dropped %d", lowered.Len(tx), lowered.First(tx), lowered.Dropped(tx))
		}
		return nil
	})
}

func TestFullQueueRefuses(t *testing.T) {
	db := start(t, tempPath(t), Options{})
	push(t, db, outbox, 50)
	err := db.Update(context.Background(), func(tx *Tx) error {
		_, err := outbox.Push(tx, record{})
		return err
	})
	wantError(t, err, ErrQueueFull)
	update(t, db, func(tx *Tx) error { _, err := outbox.Trim(tx, 1); return err })
	if last := push(t, db, outbox, 1); last != 51 {
		t.Errorf("the next number is %d", last)
	}
}

func TestQueueSetKeepsItsPlace(t *testing.T) {
	db := start(t, tempPath(t), Options{})
	push(t, db, log, 3)
	update(t, db, func(tx *Tx) error {
		wantError(t, log.Set(tx, 0, record{}), ErrNotFound)
		wantError(t, log.Set(tx, 4, record{}), ErrNotFound)
		return log.Set(tx, 2, record{"changed", 42})
	})
	view(t, db, func(tx *Tx) error {
		items, err := log.After(tx, 1, 1)
		if diff := cmp.Diff([]Item[record]{{2, record{"changed", 42}}}, items); diff != "" {
			t.Error(diff)
		}
		_, zero := log.Get(tx, 0)
		wantError(t, zero, ErrNotFound)
		return err
	})
}

func TestTrimOfManyPagesReadsRightInItsTransaction(t *testing.T) {
	db := start(t, tempPath(t), Options{})
	long := NewQueue[record]("long", 5000, Refuse)
	push(t, db, long, 3000)
	update(t, db, func(tx *Tx) error {
		n, err := long.Trim(tx, 2500)
		items, errAfter := long.After(tx, 0, 1)
		back, errBefore := long.Before(tx, 2503, 9)
		if n != 2500 || long.First(tx) != 2501 || long.Len(tx) != 500 || fmt.Sprint(numbers(items), numbers(back)) != "[2501] [2502 2501]" {
			t.Errorf("trimmed %d, first %d, length %d, %v, %v", n, long.First(tx), long.Len(tx), items, back)
		}
		n, errAll := long.Trim(tx, math.MaxUint64)
		if n != 500 || long.First(tx) != 0 || long.Len(tx) != 0 {
			t.Errorf("trimmed the last %d, first %d, length %d", n, long.First(tx), long.Len(tx))
		}
		return errors.Join(err, errAfter, errBefore, errAll)
	})
	if last := push(t, db, long, 1); last != 3001 {
		t.Errorf("the next number is %d", last)
	}
}

// TestLongQueueDropsInLots: the pages of the oldest rows are written once for many new ones, and the queue never holds
// more than its maximum.
func TestLongQueueDropsInLots(t *testing.T) {
	db := start(t, tempPath(t), Options{})
	const most = 5000
	long := NewQueue[record]("long", most, DropOldest)
	push(t, db, long, most)
	for i := range 12 {
		push(t, db, long, 1)
		view(t, db, func(tx *Tx) error {
			dropped := i/5*5 + 5 // a thousandth of the queue
			if n, gone, first := long.Len(tx), long.Dropped(tx), long.First(tx); n != most+i+1-dropped || gone != uint64(dropped) || first != uint64(dropped+1) {
				t.Errorf("push %d: length %d, dropped %d, first %d, want %d, %d and %d", i, n, gone, first, most+i+1-dropped, dropped, dropped+1)
			}
			return nil
		})
	}
}

// TestAnEmptiedQueueIsReadAtOnce: in the transaction that takes the rows of many pages, too.
func TestAnEmptiedQueueIsReadAtOnce(t *testing.T) {
	for name, q := range map[string]Queue[string]{"plain": NewQueue[string]("wide", 1000, DropOldest), "tailed": NewQueue[string]("wide", 1000, DropOldest).Tailed()} {
		t.Run(name, func(t *testing.T) {
			db := start(t, tempPath(t), Options{})
			for range 2 {
				update(t, db, func(tx *Tx) error {
					for range 100 {
						if _, err := q.Push(tx, strings.Repeat("w", 500)); err != nil {
							return err
						}
					}
					return nil
				})
			}
			update(t, db, func(tx *Tx) error {
				if _, err := q.Trim(tx, 1000); err != nil {
					return err
				}
				items, err := q.Before(tx, math.MaxUint64, 5)
				if len(items) != 0 {
					t.Errorf("%d rows", len(items))
				}
				return err
			})
		})
	}
}
