package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/store/disk"
	"roomgate/store/pages"
	"roomgate/store/storetest"
)

// running runs the loop of a database.
func running(t *testing.T, db *DB) (ended chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended = make(chan error, 1)
	go func() { ended <- db.Run(ctx) }()
	t.Cleanup(cancel)
	return ended
}

func within(t *testing.T, ended chan error) error {
	t.Helper()
	select {
	case err := <-ended:
		return err
	case <-time.After(20 * time.Second):
		t.Fatal("the database goes on as if nothing had happened")
		return nil
	}
}

// overwrite replaces what a file has, in place: bbolt has it mapped.
func overwrite(t *testing.T, path string, data []byte) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestDamageMetWhileRunningEndsRunAndTheNextOpenRepairs harms the file below a running database.
func TestDamageMetWhileRunningEndsRunAndTheNextOpenRepairs(t *testing.T) {
	t.Parallel()
	flip := func(raw []byte, at int) []byte { raw[at] ^= 4; return raw }
	cases := map[string]func(raw []byte) []byte{
		"value":        func(raw []byte) []byte { return flip(raw, bytes.LastIndex(raw, []byte(strings.Repeat("7", 300)))+5) },
		"pages":        func(raw []byte) []byte { clear(raw[2*pages.PageSize:]); return raw },
		"leaf":         func(raw []byte) []byte { clear(leafOf(raw, 1)); return raw },
		"branch":       func(raw []byte) []byte { clear(rootOf(raw, records.bucket)); return raw },
		"buckets":      func(raw []byte) []byte { root, _ := soundHeader(raw); clear(pageOf(raw, root)); return raw },
		"begin":        func(raw []byte) []byte { clear(leafOf(raw, 1)[:pages.PageSize/4]); return raw },
		"end":          func(raw []byte) []byte { clear(leafOf(raw, 1)[pages.PageSize/4:]); return raw },
		"another page": func(raw []byte) []byte { copy(leafOf(raw, 1), leafOf(raw, 2)); return raw },
	}
	uses := map[string]func(db *DB, key string) error{
		"read": func(db *DB, key string) error {
			return db.View(func(tx *Tx) error { _, err := records.Get(tx, key); return err })
		},
		"walk": func(db *DB, _ string) error {
			return db.View(func(tx *Tx) error {
				for range records.All(tx) {
					continue
				}
				return tx.Err()
			})
		},
		"write": func(db *DB, key string) error {
			return db.Update(context.Background(), func(tx *Tx) error {
				r, err := records.Get(tx, key)
				r.N++
				return errors.Join(err, records.Put(tx, key, r))
			})
		},
	}
	for harm, change := range cases {
		for use, do := range uses {
			t.Run(harm+"/"+use, func(t *testing.T) {
				path := tempPath(t)
				db, _, err := Open(context.Background(), path, Options{})
				if err != nil {
					t.Fatal(err)
				}
				update(t, db, func(tx *Tx) error {
					for i := range 100 {
						if err := records.Put(tx, fmt.Sprint(i), record{strings.Repeat(fmt.Sprint(i%10), 300), i}); err != nil {
							return err
						}
					}
					return nil
				})
				ended := running(t, db)
				overwrite(t, path, change(readFile(t, path)))
				for i := range 100 {
					if do(db, fmt.Sprint(i)) != nil {
						break
					}
				}
				wantError(t, within(t, ended), ErrDamaged)
				if s := db.Suspect(); s.Cause == nil || !s.Proved {
					t.Errorf("suspect %+v", s)
				}
				stop(t, db)
				db, report := startReport(t, path, Options{})
				if report.Repair == nil || harm == "value" && report.Repair.Sum().Kept < 99 {
					t.Errorf("report %+v", report.Repair)
				}
				push(t, db, log, 1)
			})
		}
	}
}

// A function of the caller that panics ends nothing.
func TestSoundFileGoesOnAfterASuspicion(t *testing.T) {
	db := start(t, tempPath(t), Options{})
	push(t, db, log, 3)
	ended := running(t, db)
	err := db.View(func(*Tx) error { panic("a mistake") })
	wantError(t, err, ErrPanic)
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		if db.Suspect().Cause == nil {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("still suspect: %v", db.Suspect().Cause)
		}
	}
	select {
	case err := <-ended:
		t.Errorf("ended with %v", err)
	default:
	}
	push(t, db, log, 1)
}

// busyFile is written before each piece of it is read.
type busyFile struct {
	*os.File
	write func()
}

func (f busyFile) ReadAt(p []byte, at int64) (int, error) {
	f.write()
	return f.File.ReadAt(p, at)
}

// The file is read while others write, and what they replace is used again at once.
func TestProofIsOfOneStateWhileOthersWrite(t *testing.T) {
	path := tempPath(t)
	db := start(t, path, Options{})
	n := 0
	write := func() {
		n++
		update(t, db, func(tx *Tx) error { return records.Put(tx, fmt.Sprint(n%60), record{strings.Repeat("x", n%900), n}) })
	}
	for range 60 {
		write()
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for range 5 {
		if err := db.proofOf(busyFile{file, write}); err != nil {
			t.Error(err)
		}
	}
	noticed := 0 // the same without a state that is held: its pages are used again
	for range 30 {
		size, err := sizeOf(file)
		if err != nil {
			t.Fatal(err)
		}
		if verifyImage(busyFile{file, write}, size) != nil {
			noticed++
		}
	}
	if noticed == 0 {
		t.Error("reading from the header on is as good, so this proves nothing")
	}
}

// TestDamageIsFoundThoughNobodyAsks loses a page of a database that nobody uses.
func TestDamageIsFoundThoughNobodyAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := tempPath(t)
		db, _, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		update(t, db, func(tx *Tx) error { return fillRecords(tx, 300) })
		ended := running(t, db)
		time.Sleep(3 * scrubEvery) // by then the last snapshot is as the database
		select {
		case err := <-ended:
			t.Fatalf("a sound database: %v", err)
		default:
		}
		data := readFile(t, path)
		clear(leafOf(data, 1))
		overwrite(t, path, data)
		time.Sleep(scrubEvery + time.Minute)
		wantError(t, within(t, ended), ErrDamaged)
		stop(t, db)
	})
}

// TestWhatCannotBeReadIsToldThoughNobodyAsks: a disk that does not deliver the file is told of, until it does.
func TestWhatCannotBeReadIsToldThoughNobodyAsks(t *testing.T) {
	bad := storetest.Failing(t)
	synctest.Test(t, func(t *testing.T) {
		path := tempPath(t)
		db, _, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		update(t, db, func(tx *Tx) error { return fillRecords(tx, 300) })
		running(t, db)
		away := path + ".away"
		if err := errors.Join(os.Rename(path, away), os.Symlink(bad, path)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(scrubEvery + time.Second)
		if c := db.Condition(); c.State != disk.Failing || !errors.Is(c.Err, ErrUnreadable) {
			t.Errorf("not delivered: %+v", c)
		}
		if err := os.Rename(away, path); err != nil {
			t.Fatal(err)
		}
		time.Sleep(scrubEvery + time.Second)
		if c := db.Condition(); c != (Condition{State: disk.Taking}) {
			t.Errorf("delivered again: %+v", c)
		}
		stop(t, db)
	})
}
