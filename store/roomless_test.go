package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/store/disk"
)

// smallDisk mounts a disk of 6 MB.
func smallDisk(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=6m"); err != nil {
		t.Skipf("a small disk cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// cram leaves a disk no room until mend.
func cram(t *testing.T, dir string) (mend func()) {
	t.Helper()
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 9<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	return func() {
		if err := os.Remove(filler); err != nil {
			t.Error(err)
		}
	}
}

// harmRow flips a bit in the newest copy of a row.
func harmRow(t *testing.T, path, name string) {
	t.Helper()
	raw := readFile(t, path)
	at := strings.LastIndex(string(raw), `"name":"`+name+`"`) + 8
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.WriteAt([]byte{raw[at] ^ 4}, int64(at)) // the rest of the file may have no room
	if err = errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
}

// A damaged database on a disk without room for its repair is read, and repaired once there is room.
func TestDamageOnAFullDisk(t *testing.T) {
	for name, running := range map[string]bool{"at the start": false, "while it runs": true} {
		t.Run(name, func(t *testing.T) {
			dir := smallDisk(t)
			path := filepath.Join(dir, "gateway.db")
			synctest.Test(t, func(t *testing.T) { damageOnAFullDisk(t, path, running) })
		})
	}
}

func damageOnAFullDisk(t *testing.T, path string, met bool) {
	o := Options{Reserve: 64 << 10}
	open := func() (*DB, Report) {
		t.Helper()
		db, report, err := Open(t.Context(), path, o)
		if err != nil {
			t.Fatal(err)
		}
		return db, report
	}
	db, _ := open()
	update(t, db, func(tx *Tx) error { return fillRecords(tx, 40) })
	if !met {
		stop(t, db)
	}
	mend := cram(t, filepath.Dir(path))
	harmRow(t, path, "20")
	if !met {
		db, _ = open()
	}
	ended := running(t, db)
	_ = db.View(func(tx *Tx) error { _, err := records.Get(tx, "20"); return err })
	time.Sleep(time.Hour)
	if !met {
		wantPending(t, db, true)
	}
	wantReadOnly(t, db, syscall.ENOSPC, disk.Full)
	if s := db.Suspect(); s.Cause != nil || len(ended) > 0 {
		t.Errorf("%+v, ended %v", s, len(ended) > 0)
	}
	if !met {
		wantRecords(t, db, 39, 40)
	}
	mend()
	time.Sleep(5 * time.Minute)
	if len(ended) == 0 {
		t.Fatal("there is room, and the database is not opened again")
	}
	wantError(t, <-ended, ErrFailed)
	stop(t, db)
	db, report := open()
	defer stop(t, db)
	if report.Repair == nil || report.ReadOnly || db.Condition().State != disk.Taking {
		t.Errorf("with room: %+v, %+v", report, db.Condition())
	}
	wantPending(t, db, false)
	wantRecords(t, db, 39, 40)
}

func wantPending(t *testing.T, db *DB, pending bool) {
	t.Helper()
	view(t, db, func(tx *Tx) error {
		r, err := LastRepair(tx)
		if r.Pending != pending {
			t.Errorf("the repair is %+v", r)
		}
		return err
	})
}

// A first start without room has nothing to repair.
func TestFirstOpenOnAFullDisk(t *testing.T) {
	dir := smallDisk(t)
	path := filepath.Join(dir, "gateway.db")
	cram(t, dir)
	db, report, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, db)
	wantReadOnly(t, db, syscall.ENOSPC, disk.Full)
	view(t, db, func(tx *Tx) error {
		if _, err := LastRepair(tx); report.Repair != nil || !errors.Is(err, ErrNotFound) {
			t.Errorf("a repair of nothing: %+v, %v", report.Repair, err)
		}
		return nil
	})
}

// A reserve that found no room is told of, and made once there is room.
func TestReserveThatFoundNoRoom(t *testing.T) {
	dir := smallDisk(t)
	path := filepath.Join(dir, "gateway.db")
	stop(t, start(t, path, Options{}))
	mend := cram(t, dir)
	synctest.Test(t, func(t *testing.T) {
		db, _, err := Open(t.Context(), path, Options{Reserve: 64 << 10})
		if err != nil {
			t.Fatal(err)
		}
		defer stop(t, db)
		running(t, db)
		if c := db.Condition(); c.State != disk.Full || c.Since.IsZero() || !errors.Is(c.Err, syscall.ENOSPC) || c.Stopped() {
			t.Errorf("condition %+v", c)
		}
		mend()
		time.Sleep(disk.ProbeEvery + time.Second)
		if err := db.Reserve().Put([]byte("door")); err != nil || db.Condition().State != disk.Taking {
			t.Errorf("with room: %v, %+v", err, db.Condition())
		}
	})
}
