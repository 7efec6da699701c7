package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"roomgate/store/pages"
)

// TestLostSectorsAreNotAbsentRows makes sectors of a page zeros below an open database, with keys of rows in them.
func TestLostSectorsAreNotAbsentRows(t *testing.T) {
	t.Parallel()
	lost := 0
	for from := sector; from < pages.PageSize; from += sector {
		for _, to := range []int{from + sector, pages.PageSize} {
			lost += loseSectors(t, from, to)
		}
	}
	if lost < 20 {
		t.Errorf("only %d rows were in the sectors, the test proves little", lost)
	}
}

// loseSectors clears a piece of a page with rows, and returns how many of them are gone.
func loseSectors(t *testing.T, from, to int) (lost int) {
	t.Helper()
	path := tempPath(t)
	db, _, err := Open(context.Background(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, db)
	update(t, db, func(tx *Tx) error {
		for i := range 100 {
			err = errors.Join(err, records.Put(tx, fmt.Sprint(i), record{strings.Repeat("x", 30+i), i}))
		}
		return err
	})
	data := readFile(t, path)
	_, _, rows := soundPage(leafOf(data, 1))
	var keys []string
	for _, r := range rows {
		keys = append(keys, string(r.key))
	}
	clear(leafOf(data, 1)[from:to])
	overwrite(t, path, data)
	for i, key := range keys {
		var r record
		err := db.View(func(tx *Tx) (err error) { r, err = records.Get(tx, key); return err })
		if err == nil && fmt.Sprint(r.N) == key {
			continue
		}
		lost++
		wantError(t, err, ErrDamaged)
		if string(rows[i].key) == key { // only its value is gone, which may be replaced
			continue
		}
		for what, write := range map[string]func(tx *Tx) error{
			"put":    func(tx *Tx) error { return records.Put(tx, key, record{"y", 1}) },
			"delete": func(tx *Tx) error { return records.Delete(tx, key) },
		} {
			if err := db.Update(context.Background(), write); !errors.Is(err, ErrDamaged) {
				t.Errorf("%d to %d: %s of row %s gives %v", from, to, what, key, err)
			}
		}
	}
	if lost > 0 && db.Suspect().Cause == nil {
		t.Errorf("%d to %d: %d rows are gone, and nothing is suspect", from, to, lost)
	}
	return lost
}
