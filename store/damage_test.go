package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"roomgate/store/disk"
	"roomgate/store/layout"
	"roomgate/store/pages"
)

// filled makes a closed database with rows of all sizes and one snapshot.
func filled(t *testing.T, o Options) (path string) {
	t.Helper()
	path = tempPath(t)
	db, _, err := Open(context.Background(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	push(t, db, log, 300)
	update(t, db, func(tx *Tx) error {
		for i := range 200 {
			if err := records.Put(tx, fmt.Sprint(i), record{strings.Repeat("z", i*40), i}); err != nil {
				return err
			}
		}
		return nil
	})
	if err := db.Snapshot(context.Background()); err != nil {
		t.Fatal(err)
	}
	push(t, db, log, 5) // these are lost with the file
	stop(t, db)
	return path
}

func TestDamagedFileIsQuarantinedAndRestored(t *testing.T) {
	t.Parallel()
	cases := map[string]func(data []byte) []byte{
		"empty":          func([]byte) []byte { return nil },
		"truncated":      func(d []byte) []byte { return d[:len(d)/3] },
		"zeroed page":    func(d []byte) []byte { return zeroUsed(d) },
		"both headers":   func(d []byte) []byte { d[40] ^= 1; d[pages.PageSize+40] ^= 1; return d },
		"other file":     func([]byte) []byte { return bytes.Repeat([]byte("not a database "), 4096) },
		"value bit flip": func(d []byte) []byte { d[bytes.LastIndex(d, []byte("zzzzzzzz"))] ^= 4; return d },
	}
	for name, harm := range cases {
		t.Run(name, func(t *testing.T) {
			path := filled(t, Options{})
			if err := os.WriteFile(path, harm(readFile(t, path)), 0o600); err != nil {
				t.Fatal(err)
			}
			wantError(t, Verify(path), ErrDamaged)
			var lines bytes.Buffer
			db, report := startReport(t, path, Options{Log: slog.New(slog.NewTextHandler(&lines, nil))})
			if report.Quarantined != path+".damaged-000001" || report.Restored != path+".snapshot-000001" || report.Created {
				t.Errorf("report %+v", report)
			}
			if n := strings.Count(lines.String(), "\n"); n != 1 || !strings.Contains(lines.String(), "store repaired") {
				t.Errorf("log:\n%s", lines.String())
			}
			view(t, db, func(tx *Tx) error {
				want := 305
				if report.Repair.Sum().Kept == 0 && report.Repair.Sum().Found == 0 {
					want = 300 // nothing but the snapshot is left
				}
				if log.Len(tx) != want || records.Len(tx) != 200 {
					t.Errorf("%d events, %d records", log.Len(tx), records.Len(tx))
				}
				return tx.Err()
			})
			wantFreshNumbers(t, db)
		})
	}
}

// wantFreshNumbers proves that the five lost numbers 301 to 305 do not come again, and that counting goes on.
func wantFreshNumbers(t *testing.T, db *DB) {
	t.Helper()
	had := 0
	view(t, db, func(tx *Tx) error { had = log.Len(tx); return nil })
	first := push(t, db, log, 1)
	if first <= 305 {
		t.Errorf("number %d was given before the damage", first)
	}
	push(t, db, log, 2)
	view(t, db, func(tx *Tx) error {
		items, err := log.After(tx, 305, 9)
		if log.Len(tx) != had+3 || len(items) != 3 || items[0].Seq != first || items[2].Seq != first+2 {
			t.Errorf("length %d, %v", log.Len(tx), items)
		}
		return err
	})
	update(t, db, func(tx *Tx) error {
		n, err := log.Trim(tx, first)
		if n != had+1 || log.Len(tx) != 2 {
			t.Errorf("trimmed %d, length %d", n, log.Len(tx))
		}
		return err
	})
}

func zeroUsed(data []byte) []byte {
	root, _ := soundHeader(data)
	clear(data[root*pages.PageSize:][:pages.PageSize])
	return data
}

func TestLostFileWithoutSnapshotStartsEmptyAboveAllNumbers(t *testing.T) {
	path := tempPath(t)
	last := uint64(0)
	for round := range 4 {
		var lines strings.Builder
		db, report := startReport(t, path, Options{Log: slog.New(slog.NewTextHandler(&lines, nil))})
		if said := strings.Contains(lines.String(), "level=ERROR") && strings.Contains(lines.String(), "restore a backup"); said != (round > 0) {
			t.Errorf("round %d: the log says\n%s", round, &lines)
		}
		if report.Created != true || (report.Quarantined != "") != (round > 0) {
			t.Fatalf("round %d: %+v", round, report)
		}
		seq := push(t, db, log, 10)
		if seq < last+10 {
			t.Errorf("number %d after %d", seq, last)
		}
		view(t, db, func(tx *Tx) error {
			if log.Len(tx) != 10 {
				t.Errorf("length %d", log.Len(tx))
			}
			return nil
		})
		last = seq
		stop(t, db)
		if round < 3 {
			if err := os.Truncate(path, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	kept, err := disk.Siblings(path, kindDamaged)
	if err != nil || len(kept) != keepDamaged || kept[1].Number != 3 {
		t.Errorf("kept %v, %v", kept, err)
	}
}

func TestDamagedSnapshotIsPassedOver(t *testing.T) {
	path := filled(t, Options{})
	db := start(t, path, Options{})
	if err := db.Snapshot(context.Background()); err != nil {
		t.Fatal(err)
	}
	stop(t, db)
	for _, name := range []string{path, path + ".snapshot-000002"} {
		if err := os.Truncate(name, 5000); err != nil {
			t.Fatal(err)
		}
	}
	_, report := startReport(t, path, Options{})
	if report.Restored != path+".snapshot-000001" {
		t.Errorf("report %+v", report)
	}
}

// A cut between setting the damaged file aside and putting the snapshot in place leaves no file at all.
func TestMissingFileWithSnapshotIsRestored(t *testing.T) {
	path := filled(t, Options{})
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(temporary(path), []byte("half a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	db, report := startReport(t, path, Options{})
	if report.Restored == "" || report.Created || report.Quarantined != "" {
		t.Errorf("report %+v", report)
	}
	wantFreshNumbers(t, db)
}

// TestDamageIsNeverServed flips bits and cuts pieces anywhere. Verify must call the file damaged, or all rows must
// read as they were written; no panic, no fault, no hang, no wrong value.
func TestDamageIsNeverServed(t *testing.T) {
	t.Parallel()
	path := filled(t, Options{Snapshots: 1})
	good := readFile(t, path)
	bad := filepath.Join(t.TempDir(), "bad.db")
	rng := rand.New(rand.NewPCG(7, 7))
	detected := 0
	for n := range 240 {
		data := bytes.Clone(good)
		switch n % 4 {
		case 0, 1:
			data[rng.IntN(len(data))] ^= 1 << rng.IntN(8)
		case 2:
			page := rng.IntN(len(data)/pages.PageSize) * pages.PageSize
			data[page+rng.IntN(64)] ^= 1 << rng.IntN(8)
		case 3:
			data = data[:len(data)-rng.IntN(len(data))]
		}
		err := verifyImage(bytes.NewReader(data), int64(len(data)))
		if err == nil {
			if err := os.WriteFile(bad, data, 0o600); err != nil {
				t.Fatal(err)
			}
			err = Verify(bad)
		}
		switch {
		case errors.Is(err, ErrDamaged), errors.Is(err, ErrNewerSchema):
			detected++
		case err != nil:
			t.Fatalf("round %d: %v", n, err)
		default:
			wantFilled(t, bad)
		}
	}
	t.Logf("%d of 240 detected, the others harmless", detected)
	if detected < 100 {
		t.Errorf("only %d detected, the test proves little", detected)
	}
}

func wantFilled(t *testing.T, path string) {
	t.Helper()
	db, err := openSound(path, Options{}.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, db)
	view(t, db, func(tx *Tx) error {
		items, err := log.After(tx, 0, 1000)
		if n := len(items); n != 305 && n != 300 || records.Len(tx) != 200 { // 300: a lost header is one commit back
			t.Errorf("%d events, %d records", len(items), records.Len(tx))
		}
		for i := range 200 {
			r, err := records.Get(tx, fmt.Sprint(i))
			if err != nil || r.N != i || len(r.Name) != i*40 {
				t.Errorf("row %d reads %d, %v", i, r.N, err)
			}
		}
		return errors.Join(err, tx.Err())
	})
}

func TestDamagedValueIsReported(t *testing.T) {
	path := tempPath(t)
	db, _, err := Open(context.Background(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	push(t, db, log, 3)
	update(t, db, func(tx *Tx) error {
		for _, k := range []string{"a", "b", "c"} {
			if err := records.Put(tx, k, record{"name " + k, 1}); err != nil {
				return err
			}
		}
		// What a flipped bit in the page cache or on the card does.
		harm := func(bucket, key []byte) error {
			b := tx.bolt.Bucket(bucket)
			value := bytes.Clone(b.Get(key))
			value[len(value)-2] ^= 1
			return b.Put(key, value)
		}
		return errors.Join(harm(records.bucket, []byte("b")), harm(log.bucket, layout.Key(2)))
	})
	view(t, db, func(tx *Tx) error {
		_, err := records.Get(tx, "b")
		wantError(t, err, ErrDamaged)
		_, err = log.Get(tx, 2)
		wantError(t, err, ErrDamaged)
		if !strings.Contains(err.Error(), `queue "log", row 2`) || tx.Err() != nil {
			t.Errorf("get: %v, transaction: %v", err, tx.Err())
		}
		items, err := log.After(tx, 0, 2)
		if err != nil || len(items) != 2 || items[1].Seq != 3 {
			t.Errorf("the rows behind the damaged one: %v, %v", items, err)
		}
		for k := range records.All(tx) {
			if k == "b" {
				t.Error("the damaged row was served")
			}
		}
		wantError(t, tx.Err(), ErrDamaged)
		return nil
	})
	if s := db.Stats(); s.DamagedReads != 4 || !errors.Is(s.LastError, ErrDamaged) {
		t.Errorf("stats %+v", s)
	}
	wantError(t, db.Snapshot(context.Background()), ErrDamaged)
	if made, err := disk.Siblings(path, kindSnapshot); err != nil || len(made) != 0 {
		t.Errorf("a snapshot of damaged rows was kept: %v, %v", made, err)
	}
	stop(t, db)
	wantError(t, Verify(path), ErrDamaged)
}

// A card that cannot deliver a page faults the mapped file, as does a file that was cut while open.
func TestUnreadablePageIsAnErrorNotTheEnd(t *testing.T) {
	path := filled(t, Options{})
	db, _, err := Open(context.Background(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 2*pages.PageSize); err != nil {
		t.Fatal(err)
	}
	err = db.View(func(tx *Tx) error { _, err := records.Get(tx, "7"); return err })
	if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrPanic) { // an emulator may not tell the address
		t.Errorf("error is %v", err)
	}
	put := func(tx *Tx) error { return records.Put(tx, "7", record{}) }
	for range 2 {
		if err := db.Update(context.Background(), put); err == nil {
			t.Error("wrote to a file that is not there")
		}
	}
	stop(t, db)
	_, report := startReport(t, path, Options{})
	if report.Quarantined == "" || report.Restored == "" {
		t.Errorf("report %+v", report)
	}
}

func TestFailedStoreReadsOnAndRefusesToWrite(t *testing.T) {
	db := start(t, tempPath(t), Options{})
	push(t, db, log, 1)
	errs := writeAsOne(t, db, 3, func(i int) func(*Tx) error {
		return func(tx *Tx) error {
			if i == 1 {
				return tx.writes.Put(nil, nil, nil, nil) // bbolt panics
			}
			return records.Put(tx, fmt.Sprint(i), record{})
		}
	})
	for _, err := range errs {
		wantError(t, err, ErrFailed)
	}
	wantError(t, db.Update(context.Background(), func(*Tx) error { return nil }), ErrFailed)
	view(t, db, func(tx *Tx) error {
		if log.Len(tx) != 1 || records.Len(tx) != 0 {
			t.Errorf("%d events, %d records", log.Len(tx), records.Len(tx))
		}
		return nil
	})
}
