package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"roomgate/store/disk"
	"roomgate/store/pages"
)

// roomyDisk mounts a disk of its own.
func roomyDisk(t *testing.T, options string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("a disk cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestShortWrites: a disk takes the first pages of what is written at once, and no more. Nothing of it is shown, and all that was
// acknowledged is there, also for the next process.
func TestShortWrites(t *testing.T) {
	path := filepath.Join(roomyDisk(t, "size=8m"), "gateway.db")
	db := start(t, path, Options{})
	rows, text := map[string]record{}, strings.Repeat("s", 20*pages.PageSize)
	update(t, db, func(tx *Tx) error { return records.Put(tx, "first", record{"small", 0}) })
	filler, refused := filepath.Join(filepath.Dir(path), "filler"), 0
	for left := range 26 {
		mend := cram(t, filepath.Dir(path))
		info, err := os.Stat(filler)
		if err == nil {
			err = os.Truncate(filler, info.Size()-int64(left)*pages.PageSize)
		}
		if err != nil {
			t.Fatal(err)
		}
		name, next := fmt.Sprint("with ", left), record{text, left} // on pages that the file does not have yet
		err = db.Update(t.Context(), func(tx *Tx) error { return records.Put(tx, name, next) })
		switch {
		case err == nil:
			rows[name] = next
		case errors.Is(err, ErrFull):
			refused++
		default:
			t.Fatalf("%s pages left: %v", name, err)
		}
		view(t, db, func(tx *Tx) error {
			for k, r := range records.All(tx) {
				if k != "first" && rows[k] != r {
					t.Errorf("%s pages left: row %s is %d, of %d bytes", name, k, r.N, len(r.Name))
				}
			}
			if n := records.Len(tx); n != len(rows)+1 {
				t.Errorf("%s pages left: %d rows, want %d", name, n, len(rows)+1)
			}
			return tx.Err()
		})
		mend()
		update(t, db, func(tx *Tx) error { return records.Put(tx, name, next) })
		rows[name] = next
		if left%8 == 0 {
			stop(t, db)
			var report Report
			if db, report = startReport(t, path, Options{}); report != (Report{}) {
				t.Fatalf("%s pages left, opened again: %+v", name, report)
			}
		}
	}
	if refused < 10 {
		t.Errorf("%d writes were refused: the disk was not full", refused)
	}
}

// mostlyFree makes a database of which most can be given back, and some not.
func mostlyFree(t *testing.T, path string) {
	t.Helper()
	db := start(t, path, Options{})
	text := strings.Repeat("c", 20_000)
	update(t, db, func(tx *Tx) (err error) {
		for i := range 800 {
			err = errors.Join(err, records.Put(tx, fmt.Sprint(i), record{text, i}))
		}
		return err
	})
	update(t, db, func(tx *Tx) (err error) {
		for i := 300; i < 800; i++ {
			err = errors.Join(err, records.Delete(tx, fmt.Sprint(i)))
		}
		return err
	})
	stop(t, db)
}

// TestCompactionWithoutRoom: a disk takes no more files, or somebody fills it while a database is made smaller. The larger file
// stays in use, whole.
func TestCompactionWithoutRoom(t *testing.T) {
	t.Run("no more files", func(t *testing.T) {
		dir := roomyDisk(t, "size=64m,nr_inodes=6")
		path := filepath.Join(dir, "gateway.db")
		mostlyFree(t, path)
		for n := 0; ; n++ {
			if file, err := os.Create(filepath.Join(dir, fmt.Sprint(n))); errors.Is(err, syscall.ENOSPC) {
				break
			} else if err = errors.Join(err, file.Close()); err != nil {
				t.Fatal(err)
			}
		}
		wantLarger(t, path)
	})
	t.Run("full meanwhile", func(t *testing.T) {
		dir := roomyDisk(t, "size=64m")
		path, filler := filepath.Join(dir, "gateway.db"), filepath.Join(dir, "filler")
		for range 20 { // it may be over before
			mostlyFree(t, path)
			filled := make(chan error, 1)
			go func() { filled <- fillOnceThere(temporary(path), filler) }()
			db, report := startReport(t, path, Options{})
			if err := errors.Join(<-filled, os.Remove(filler)); err != nil {
				t.Fatal(err)
			}
			wantHalf(t, db)
			stop(t, db)
			if report.Compacted == 0 {
				wantOnly(t, path, "", ".lock")
				return
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		t.Skip("this machine is too fast: the disk was never full in time")
	})
}

// fillOnceThere takes the room of a disk as soon as a file has something in it, but for a few pages.
func fillOnceThere(name, filler string) error {
	file, err := os.Create(filler)
	if err != nil {
		return err
	}
	defer file.Close()
	for range 10_000_000 {
		if info, err := os.Stat(name); err == nil && info.Size() > 0 {
			break
		}
	}
	for range 100 { // else the other has taken some of it meanwhile
		var free int64
		if free, err = disk.Free(filepath.Dir(filler)); err != nil || free < 64<<10 {
			return err
		}
		if err = syscall.Fallocate(int(file.Fd()), 0, 0, free-32<<10); err == nil {
			return nil
		}
	}
	return err
}

func wantLarger(t *testing.T, path string) {
	t.Helper()
	db, report := startReport(t, path, Options{})
	if report != (Report{}) {
		t.Errorf("report %+v", report)
	}
	wantHalf(t, db)
	stop(t, db)
}

func wantHalf(t *testing.T, db *DB) {
	t.Helper()
	view(t, db, func(tx *Tx) error {
		n := 0
		for k, r := range records.All(tx) {
			if k != fmt.Sprint(r.N) {
				t.Errorf("row %s is %d", k, r.N)
			}
			n++
		}
		if n != 300 {
			t.Errorf("%d rows, want 300", n)
		}
		return tx.Err()
	})
	update(t, db, func(tx *Tx) error { return records.Put(tx, "0", record{"again", 0}) })
}
