package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"roomgate/store/layout"
	"roomgate/store/pages"
)

var plainQueue = NewQueue[string]("plain", 1000, DropOldest)

// lastLeaf is the page with the last rows of a bucket that has pages of its own.
func lastLeaf(data, bucket []byte) []byte {
	page := rootOf(data, bucket)
	for {
		leaf, _, all := soundPage(page)
		if leaf {
			return page
		}
		page = pageOf(data, all[len(all)-1].child)
	}
}

// TestLostSectorsOfAQueue makes sectors of the page with the youngest rows of a queue zeros: nobody passes the rows that were
// there, nothing is appended behind them, and no number is given twice.
func TestLostSectorsOfAQueue(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		q      Queue[string]
		bucket []byte
	}{
		"queue": {plainQueue, plainQueue.bucket},
		"tail":  {tailedQueue, layout.TailsOf(tailedQueue.bucket)[1]},
	} {
		t.Run(name, func(t *testing.T) {
			lost := 0
			for from := sector; from < pages.PageSize; from += sector {
				for _, to := range []int{from + sector, pages.PageSize} {
					lost += loseQueueSectors(t, c.q, c.bucket, from, to)
				}
			}
			if lost < 20 {
				t.Errorf("only %d rows were in the sectors, the test proves little", lost)
			}
		})
	}
}

// loseQueueSectors clears a piece of that page, and returns how many rows are gone.
func loseQueueSectors(t *testing.T, q Queue[string], bucket []byte, from, to int) (lost int) {
	t.Helper()
	path := tempPath(t)
	db, _, err := Open(context.Background(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, db)
	update(t, db, func(tx *Tx) (err error) {
		for i := range 60 {
			_, wrong := q.Push(tx, strings.Repeat("x", 30+i))
			err = errors.Join(err, wrong)
		}
		return err
	})
	for i := range 21 { // alone, so that a tail takes them
		push1(t, db, q, strings.Repeat("y", 60+i))
	}
	data := readFile(t, path)
	_, _, rows := soundPage(lastLeaf(data, bucket))
	var there []uint64
	for _, r := range rows {
		if n, _ := layout.Number(r.key); n > 0 {
			there = append(there, n)
		}
	}
	if len(there) < 10 {
		t.Fatalf("%d rows are on the page", len(there))
	}
	clear(lastLeaf(data, bucket)[from:to])
	overwrite(t, path, data)
	read := func(n uint64, read func(tx *Tx, seq uint64, limit int) ([]Item[string], error), at uint64) (ok bool) {
		var got []Item[string]
		err := db.View(func(tx *Tx) (err error) {
			got, err = read(tx, at, 1)
			return errors.Join(err, tx.Err())
		})
		if ok = err == nil && len(got) == 1 && got[0].Seq == n; !ok && !errors.Is(err, ErrDamaged) {
			t.Errorf("%d to %d: row %d reads as %v, %v", from, to, n, got, err)
		}
		return ok
	}
	tell := func(what string, write func(tx *Tx) error) {
		if err := db.Update(context.Background(), write); !errors.Is(err, ErrDamaged) {
			t.Errorf("%d to %d: %s gives %v", from, to, what, err)
		}
	}
	get := func(n uint64) error {
		return db.View(func(tx *Tx) error { _, err := q.Get(tx, n); return err })
	}
	for i, n := range there {
		read(n, q.After, n-1)
		read(n, q.Before, n+1)
		if get(n) == nil {
			continue
		}
		lost++
		if k, _ := layout.Number(rows[len(rows)-len(there)+i].key); k != n {
			tell(fmt.Sprintf("a change of row %d", n), func(tx *Tx) error { return q.Set(tx, n, "z") })
		}
	}
	if get(there[len(there)-1]) != nil {
		tell("a row more", func(tx *Tx) error { _, err := q.Push(tx, "z"); return err })
	}
	for what, all := range map[string]func(tx *Tx) ([]Item[string], error){
		"oldest first": func(tx *Tx) ([]Item[string], error) { return q.After(tx, 0, 1000) },
		"newest first": func(tx *Tx) ([]Item[string], error) { return q.Before(tx, 1<<60, 1000) },
	} {
		err := db.View(func(tx *Tx) error { _, err := all(tx); return errors.Join(err, tx.Err()) })
		if lost > 0 && !errors.Is(err, ErrDamaged) {
			t.Errorf("%d to %d: all rows, the %s: %v", from, to, what, err)
		}
	}
	if lost > 0 && db.Suspect().Cause == nil {
		t.Errorf("%d to %d: %d rows are gone, and nothing is suspect", from, to, lost)
	}
	return lost
}

// TestLostSectorsOfABranch makes a sector of the page zeros that leads to the rows: what is looked for on a wrong page is not
// missing.
func TestLostSectorsOfABranch(t *testing.T) {
	t.Parallel()
	path := tempPath(t)
	db, _, err := Open(context.Background(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, db)
	const rows = 3000
	key := func(i int) string { return fmt.Sprintf("%08d", i) }
	update(t, db, func(tx *Tx) (err error) {
		for i := range rows {
			err = errors.Join(err, records.Put(tx, key(i), record{strings.Repeat("x", 30), i}))
		}
		return err
	})
	data := readFile(t, path)
	branch := rootOf(data, records.bucket)
	leaf, _, all := soundPage(branch)
	if leaf || len(all) < 40 {
		t.Fatalf("a page of %d entries, is it a leaf: %v", len(all), leaf)
	}
	keys := headerSize * (1 + len(all)) // from here on
	at := (keys + sector - 1) / sector * sector
	clear(branch[at : at+sector])
	overwrite(t, path, data)
	lost := 0
	for i := range rows {
		var first string
		for what, read := range map[string]func(tx *Tx) error{
			"get": func(tx *Tx) error { _, err := records.Get(tx, key(i)); return err },
			"walk": func(tx *Tx) error {
				for first = range records.From(tx, key(i)) {
					break
				}
				if first != key(i) {
					return errors.Join(errors.New("it begins with "+first), tx.Err())
				}
				return nil
			},
		} {
			if err := db.View(read); err != nil {
				if lost++; !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrPanic) {
					t.Fatalf("%s of row %d: %v", what, i, err)
				}
			}
		}
	}
	if lost < 20 {
		t.Errorf("only %d rows were not found, the test proves little", lost)
	}
}
