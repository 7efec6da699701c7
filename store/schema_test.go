package store

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"roomgate/store/layout"
)

type oldRow struct{ Title string }

func TestMigrationRunsOnceAndKeepsACopy(t *testing.T) {
	path := tempPath(t)
	old, rows := NewTable[oldRow]("row"), NewTable[record]("row")
	db := start(t, path, Options{Schema: 1})
	update(t, db, func(tx *Tx) error { return old.Put(tx, "a", oldRow{"first"}) })
	stop(t, db)

	var ran []int
	step := func(to int, up func(*Tx) error) Migration {
		return Migration{to, func(tx *Tx) error { ran = append(ran, to); return up(tx) }}
	}
	o := Options{Schema: 4, Migrations: []Migration{
		step(3, func(tx *Tx) error {
			r, err := rows.Get(tx, "a")
			r.N = 3
			return errors.Join(err, rows.Put(tx, "a", r))
		}),
		step(2, func(tx *Tx) error {
			for k, v := range old.All(tx) {
				if err := rows.Put(tx, k, record{v.Title, 2}); err != nil {
					return err
				}
			}
			return tx.Err()
		}),
		step(1, func(*Tx) error { return errors.New("must not run") }),
	}}
	db, report := startReport(t, path, o)
	if report.Migrated != 1 || !slices.Equal(ran, []int{2, 3}) {
		t.Errorf("report %+v, ran %v", report, ran)
	}
	view(t, db, func(tx *Tx) error {
		if r, err := rows.Get(tx, "a"); err != nil || r != (record{"first", 3}) {
			t.Errorf("row %v, %v", r, err)
		}
		return nil
	})
	stop(t, db)
	_, report = startReport(t, path, o)
	if report != (Report{}) || len(ran) != 2 {
		t.Errorf("opened again: %+v, ran %v", report, ran)
	}
	before, err := openSound(path+".before-schema-000001", Options{}.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, before)
	view(t, before, func(tx *Tx) error {
		if r, err := old.Get(tx, "a"); err != nil || r.Title != "first" {
			t.Errorf("the copy holds %v, %v", r, err)
		}
		return nil
	})
}

func TestFailedMigrationChangesNothing(t *testing.T) {
	path := tempPath(t)
	db := start(t, path, Options{})
	update(t, db, func(tx *Tx) error { return records.Put(tx, "a", record{"kept", 1}) })
	stop(t, db)
	broken := errors.New("broken")
	bad := Migration{2, func(tx *Tx) error { return errors.Join(records.Delete(tx, "a"), broken) }}
	cases := map[string]Options{
		"fails":        {Schema: 2, Migrations: []Migration{bad}},
		"panics":       {Schema: 2, Migrations: []Migration{{2, func(*Tx) error { panic("broken") }}}},
		"listed twice": {Schema: 2, Migrations: []Migration{{To: 2}, {To: 2}}},
		"too new":      {Schema: 2, Migrations: []Migration{{To: 3}}},
	}
	for name, o := range cases {
		t.Run(name, func(t *testing.T) {
			if _, _, err := Open(context.Background(), path, o); err == nil {
				t.Fatal("opened")
			}
			db, report := startReport(t, path, Options{})
			if report != (Report{}) {
				t.Errorf("report %+v", report)
			}
			view(t, db, func(tx *Tx) error { _, err := records.Get(tx, "a"); return err })
			stop(t, db)
		})
	}
}

func TestNewerSchemaIsRefusedAndLeftAlone(t *testing.T) {
	path := tempPath(t)
	stop(t, start(t, path, Options{Schema: 5}))
	want := readFile(t, path)
	_, report, err := Open(context.Background(), path, Options{Schema: 4})
	wantError(t, err, ErrNewerSchema)
	if report != (Report{}) || !slices.Equal(want, readFile(t, path)) {
		t.Errorf("the file was changed, report %+v", report)
	}
	_, report = startReport(t, path, Options{Schema: 5})
	if report != (Report{}) {
		t.Errorf("report %+v", report)
	}
}

func TestNewerFormatIsRefusedNotQuarantined(t *testing.T) {
	path := tempPath(t)
	db, _, err := Open(context.Background(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	update(t, db, func(tx *Tx) error { return metaTable.Put(tx, layout.FormatKey, 2) })
	stop(t, db)
	_, _, err = Open(context.Background(), path, Options{})
	wantError(t, err, ErrNewerSchema)
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

func TestSecondProcessIsRefused(t *testing.T) {
	path := tempPath(t)
	start(t, path, Options{})
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	_, _, err := Open(ctx, path, Options{})
	wantError(t, err, ErrLocked)
	wantError(t, Verify(path), ErrLocked)
}
