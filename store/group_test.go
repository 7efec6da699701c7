package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// writeAsOne gathers n calls in one group: they come while the database is busy with the first.
func writeAsOne(t *testing.T, db *DB, n int, fn func(i int) func(*Tx) error) []error {
	t.Helper()
	errs := make([]error, n)
	busy, free := make(chan bool), make(chan bool)
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = db.Update(context.Background(), func(*Tx) error { close(busy); <-free; return nil })
	})
	<-busy
	for i := range n {
		wg.Go(func() { errs[i] = db.Update(context.Background(), fn(i)) })
	}
	awaitWaiting(db, n)
	close(free)
	wg.Wait()
	return errs
}

func awaitWaiting(db *DB, n int) {
	for waiting := 0; waiting < n; runtime.Gosched() {
		db.writes.mu.Lock()
		waiting = len(db.writes.waiting)
		db.writes.mu.Unlock()
	}
}

func TestGroupSharesOneCommitAndIsolatesFailures(t *testing.T) {
	db := start(t, tempPath(t), Options{})
	push(t, db, log, 3)
	before := db.Stats().Commits
	refused := errors.New("refused")
	var runs [64]atomic.Int32
	errs := writeAsOne(t, db, 64, func(i int) func(*Tx) error {
		return func(tx *Tx) error {
			runs[i].Add(1)
			seq, err := log.Push(tx, record{"pushed", i})
			if err != nil {
				return err
			}
			err = errors.Join(records.Put(tx, fmt.Sprint(i), record{"kept", int(seq)}), records.Put(tx, "shared", record{"by", i}))
			switch i % 4 {
			case 1:
				return errors.Join(err, refused)
			case 2:
				panic(i)
			}
			return err
		}
	})
	if n := db.Stats().Commits - before; n != 1 {
		t.Errorf("%d commits", n)
	}
	for i, err := range errs {
		if n := runs[i].Load(); n != 1 {
			t.Errorf("function %d ran %d times", i, n)
		}
		switch i % 4 {
		case 1:
			wantError(t, err, refused)
		case 2:
			wantError(t, err, ErrPanic)
		default:
			if err != nil {
				t.Errorf("function %d: %v", i, err)
			}
		}
	}
	wantSurvivors(t, db)
}

// wantSurvivors proves that the failed half left nothing: no row, and no hole in the numbers.
func wantSurvivors(t *testing.T, db *DB) {
	t.Helper()
	view(t, db, func(tx *Tx) error {
		items, err := log.After(tx, 3, 100)
		if len(items) != 32 || log.Last(tx) != 35 || log.Len(tx) != 35 {
			t.Errorf("%d rows, last %d, length %d", len(items), log.Last(tx), log.Len(tx))
		}
		for _, item := range items {
			i := item.Value.N
			r, err := records.Get(tx, fmt.Sprint(i))
			if i%4 == 1 || i%4 == 2 || err != nil || uint64(r.N) != item.Seq {
				t.Errorf("row %d of function %d: %v, %v", item.Seq, i, r, err)
			}
		}
		if r, err := records.Get(tx, "shared"); err != nil || r.N != items[len(items)-1].Value.N {
			t.Errorf("shared row %v, %v", r, err)
		}
		if n := records.Len(tx); n != 33 {
			t.Errorf("%d records", n)
		}
		return err
	})
}

func TestUndoRestoresEveryKindOfWrite(t *testing.T) {
	db := start(t, tempPath(t), Options{})
	ring := NewQueue[record]("ring", 3, DropOldest)
	push(t, db, ring, 5)
	update(t, db, func(tx *Tx) error { return records.Put(tx, "a", record{"first", 1}) })
	fresh := NewTable[int]("fresh")
	errs := writeAsOne(t, db, 2, func(i int) func(*Tx) error {
		return func(tx *Tx) error {
			if i == 1 {
				return records.Put(tx, "b", record{"neighbour", 1})
			}
			_, err1 := ring.Push(tx, record{})
			_, err2 := ring.Trim(tx, 4)
			return errors.Join(err1, err2, ring.Set(tx, 5, record{"changed", 1}), records.Put(tx, "a", record{"second", 2}),
				records.Delete(tx, "a"), fresh.Put(tx, "x", 1), context.Canceled)
		}
	})
	wantError(t, errs[0], context.Canceled)
	if errs[1] != nil {
		t.Error(errs[1])
	}
	view(t, db, func(tx *Tx) error {
		items, err := ring.After(tx, 0, 9)
		if got := fmt.Sprint(items); got != "[{3 {event 2}} {4 {event 3}} {5 {event 4}}]" || ring.Dropped(tx) != 2 || ring.Last(tx) != 5 {
			t.Errorf("ring %s, dropped %d, last %d", got, ring.Dropped(tx), ring.Last(tx))
		}
		if r, err := records.Get(tx, "a"); err != nil || r.N != 1 {
			t.Errorf("row %v, %v", r, err)
		}
		if tx.bolt.Bucket(fresh.bucket) != nil {
			t.Error("the bucket of the failed function is there")
		}
		return err
	})
}

func TestManyWritersLoseNothing(t *testing.T) {
	t.Parallel()
	path := tempPath(t)
	db := start(t, path, Options{})
	events := NewQueue[record]("events", 10_000, Refuse)
	var wg sync.WaitGroup
	for w := range 64 {
		wg.Go(func() {
			for i := range 20 {
				err := db.Update(context.Background(), func(tx *Tx) error {
					seq, err := events.Push(tx, record{"w", w})
					return errors.Join(err, records.Put(tx, fmt.Sprintf("%d/%d", w, i), record{"at", int(seq)}))
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	s := db.Stats()
	if s.Updates < 64*20 || s.Commits > s.Updates/2 {
		t.Errorf("%d updates in %d commits", s.Updates, s.Commits)
	}
	stop(t, db)
	db = start(t, path, Options{})
	view(t, db, func(tx *Tx) error {
		if events.Len(tx) != 64*20 || events.Last(tx) != 64*20 || records.Len(tx) != 64*20 {
			t.Errorf("%d events, last %d, %d records", events.Len(tx), events.Last(tx), records.Len(tx))
		}
		return nil
	})
}

func TestWaitingCallerMayGiveUp(t *testing.T) {
	db := start(t, tempPath(t), Options{})
	busy, free := make(chan bool), make(chan bool)
	var wg sync.WaitGroup
	wg.Go(func() { _ = db.Update(context.Background(), func(*Tx) error { close(busy); <-free; return nil }) })
	<-busy
	ctx, cancel := context.WithCancel(context.Background())
	wg.Go(func() {
		err := db.Update(ctx, func(*Tx) error { t.Error("ran after its caller gave up"); return nil })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v", err)
		}
		close(free)
	})
	awaitWaiting(db, 1)
	cancel()
	wg.Wait()
	update(t, db, func(tx *Tx) error { return records.Put(tx, "a", record{}) })
}

func TestLoneCallerDoesNotWait(t *testing.T) {
	db := start(t, tempPath(t), Options{})
	before := db.Stats().Commits
	began := time.Now()
	for i := range 20 {
		update(t, db, func(tx *Tx) error { return records.Put(tx, "a", record{"x", i}) })
	}
	if n := db.Stats().Commits - before; n != 20 {
		t.Errorf("%d commits for 20 calls in %v", n, time.Since(began))
	}
}

func TestEndedGoroutineReleasesTheOthers(t *testing.T) {
	db := start(t, tempPath(t), Options{})
	errs := writeAsOne(t, db, 8, func(i int) func(*Tx) error {
		return func(tx *Tx) error {
			err := records.Put(tx, fmt.Sprint(i), record{})
			if i == 3 {
				runtime.Goexit()
			}
			return err
		}
	})
	for i, err := range errs {
		// The goroutine that led is gone with its own result; a caller behind it may have got a later group.
		if err != nil && !errors.Is(err, errAborted) {
			t.Errorf("call %d: %v", i, err)
		}
	}
	update(t, db, func(tx *Tx) error { return records.Put(tx, "next", record{}) })
}

func TestCloseEndsWaiting(t *testing.T) {
	db := start(t, tempPath(t), Options{})
	stop(t, db)
	stop(t, db)
	wantError(t, db.View(func(*Tx) error { return nil }), ErrClosed)
	wantError(t, db.Update(context.Background(), func(*Tx) error { return nil }), ErrClosed)
	wantError(t, db.Snapshot(context.Background()), ErrClosed)
	_ = db.Stats()
}

// TestAllBucketsShareOnePageAgain: the list of buckets has grown over its page, and is one again once it fits into it.
func TestAllBucketsShareOnePageAgain(t *testing.T) {
	db := start(t, tempPath(t), Options{})
	defer stop(t, db)
	write := func(name string) {
		update(t, db, func(tx *Tx) (err error) {
			for i := range 6 {
				err = errors.Join(err, NewTable[record](fmt.Sprint("small", i)).Put(tx, "row", record{name, i}))
			}
			return err
		})
	}
	kind := func() (kind string) {
		view(t, db, func(tx *Tx) error {
			page, err := tx.bolt.Page(int(tx.bolt.Cursor().Bucket().Root()))
			kind = page.Type
			return err
		})
		return kind
	}
	write(strings.Repeat("x", 800))
	if kind() != "branch" {
		t.Fatal("the list of buckets is still one page, the test proves nothing")
	}
	write("x")
	write("y")
	if kind() != "leaf" {
		t.Error("the list of buckets is several pages")
	}
}
