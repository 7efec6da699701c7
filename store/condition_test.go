package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/store/disk"
	"roomgate/store/pages"
	"roomgate/store/storetest"
)

// wantReadOnly wants a database that reads and refuses to write.
func wantReadOnly(t *testing.T, db *DB, cause error, state disk.State) {
	t.Helper()
	c := db.Condition()
	if c.State != state || c.Since.IsZero() || !errors.Is(c.Err, cause) {
		t.Errorf("condition %+v, want %s by %v", c, state, cause)
	}
	err := db.Update(context.Background(), func(tx *Tx) error { return records.Put(tx, "new", record{}) })
	wantError(t, err, ErrFailed)
	view(t, db, func(tx *Tx) error {
		if _, err := records.Get(tx, "new"); !errors.Is(err, ErrNotFound) {
			t.Errorf("a row that was refused: %v", err)
		}
		return nil
	})
}

// A disk that begins to report errors ends writing and nothing else.
func TestFailingDiskIsReadOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := tempPath(t)
		db, _, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		push(t, db, log, 3)
		ended := running(t, db)
		mend := storetest.Break(t, path)
		err = db.Update(t.Context(), func(tx *Tx) error { return records.Put(tx, "new", record{}) })
		wantError(t, err, ErrFailed)
		wantError(t, err, syscall.EIO)
		wantReadOnly(t, db, syscall.EIO, disk.Failing)
		time.Sleep(disk.BadFor - disk.ProbeEvery) // its folder takes writes all the time
		view(t, db, func(tx *Tx) error {
			if log.Len(tx) != 3 {
				t.Errorf("%d rows", log.Len(tx))
			}
			return nil
		})
		select {
		case err := <-ended:
			t.Fatalf("ended with %v, long before the disk had proved itself", err)
		default:
		}
		mend()
		time.Sleep(2 * disk.ProbeEvery)
		wantError(t, within(t, ended), ErrFailed) // and another Open helps
		stop(t, db)
		push(t, start(t, path, Options{}), log, 1)
	})
}

// A full disk is told as such until it takes something.
func TestFullDiskIsTold(t *testing.T) {
	path := tempPath(t)
	db := start(t, path, Options{})
	push(t, db, log, 1)
	if c := db.Condition(); c != (Condition{State: disk.Taking}) {
		t.Errorf("at first %+v", c)
	}
	mend := storetest.Fill(t, path)
	put := func(tx *Tx) error { return records.Put(tx, "new", record{}) }
	wantError(t, db.Update(t.Context(), put), ErrFull)
	if c := db.Condition(); c.State != disk.Full || c.Since.IsZero() || !errors.Is(c.Err, syscall.ENOSPC) {
		t.Errorf("full: %+v", c)
	}
	mend()
	update(t, db, put)
	if c := db.Condition(); c != (Condition{State: disk.Taking}) {
		t.Errorf("with room: %+v", c)
	}
}

// readOnlyDisk mounts a small disk, lets fill write to it and makes it read-only.
func readOnlyDisk(t *testing.T, fill func(dir string)) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=6m"); err != nil {
		t.Skipf("a disk cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	fill(dir)
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	return dir
}

// What is on a read-only disk is read: as it is, damaged, of an older schema, without a lock.
func TestReadOnlyDiskIsRead(t *testing.T) {
	cases := map[string]struct {
		change func(path string) error
		o      Options
	}{
		"sound":   {},
		"no lock": {change: func(path string) error { return os.Remove(path + ".lock") }},
		"older":   {o: Options{Schema: 2}},
		"damaged": {change: func(path string) error {
			raw, err := os.ReadFile(path)
			raw[strings.LastIndex(string(raw), `"name":"20"`)+8] ^= 4
			return errors.Join(err, os.WriteFile(path, raw, 0o600))
		}},
		"leftover": {change: func(path string) error { return os.WriteFile(temporary(path), []byte("half"), 0o600) }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := readOnlyDisk(t, func(dir string) {
				path := filepath.Join(dir, "gateway.db")
				db, _, err := Open(t.Context(), path, Options{})
				if err != nil {
					t.Fatal(err)
				}
				update(t, db, func(tx *Tx) error { return fillRecords(tx, 40) })
				stop(t, db)
				if c.change != nil {
					if err := c.change(path); err != nil {
						t.Fatal(err)
					}
				}
			})
			db, report, err := Open(t.Context(), filepath.Join(dir, "gateway.db"), c.o)
			if err != nil {
				t.Fatal(err)
			}
			defer stop(t, db)
			wantReadOnly(t, db, syscall.EROFS, disk.ReadOnly)
			wantRecords(t, db, 39, 40)
			if reason := db.Condition().Err.Error(); strings.ContainsAny(reason, "\n") || strings.Contains(reason, "remove ") {
				t.Errorf("the reason is %q", reason)
			}
			if !report.ReadOnly {
				t.Errorf("report %+v", report)
			}
		})
	}
}

func fillRecords(tx *Tx, n int) error {
	for i := range n {
		if err := records.Put(tx, fmt.Sprint(i), record{fmt.Sprint(i), i}); err != nil {
			return err
		}
	}
	return nil
}

func wantRecords(t *testing.T, db *DB, least, most int) {
	t.Helper()
	view(t, db, func(tx *Tx) error {
		if n := records.Len(tx); n < least || n > most {
			t.Errorf("%d rows, want %d to %d", n, least, most)
		}
		return nil
	})
}

// What a disk does not deliver costs its rows, as long as no snapshot has them, and nothing is written or set aside: a
// better reader may still get it.
func TestUnreadableFileIsReplacedByItsSnapshot(t *testing.T) {
	path := tempPath(t)
	db, _, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	update(t, db, func(tx *Tx) error { return fillRecords(tx, 2000) })
	if err := db.Snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	stop(t, db)
	if err := errors.Join(os.Remove(path), os.Symlink("/proc/self/mem", path)); err != nil {
		t.Fatal(err)
	}
	db = wantOpenedBad(t, path, Options{})
	wantReadOnly(t, db, syscall.EIO, disk.Failing)
	wantRecords(t, db, 2000, 2000)
	wantError(t, db.Snapshot(t.Context()), ErrFailed) // it would push out the last good one
	stop(t, db)
	db = wantOpenedBad(t, path, Options{Schema: 2}) // it is migrated in memory
	wantRecords(t, db, 2000, 2000)
	stop(t, db)
	if names, err := Files(path); err != nil || len(names) != 2 {
		t.Errorf("files %q, %v", names, err)
	}
}

func wantOpenedBad(t *testing.T, path string, o Options) *DB {
	t.Helper()
	db, report, err := Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	if !report.ReadOnly {
		t.Errorf("report %+v", report)
	}
	return db
}

// A disk of which a part cannot be read: what is left of the rest is read. Which rows that are is the disk's choice.
func TestUnreadablePagesAreLivedWith(t *testing.T) {
	image, dir := filepath.Join(t.TempDir(), "disk"), t.TempDir()
	tool := func(name string, args ...string) {
		t.Helper()
		if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
			t.Skipf("a disk cannot be made here: %v %s", err, out)
		}
	}
	if err := errors.Join(os.WriteFile(image, nil, 0o600), os.Truncate(image, 16<<20)); err != nil {
		t.Fatal(err)
	}
	tool("mkfs.ext4", "-q", "-O", "^has_journal", image)
	tool("mount", "-o", "loop", image, dir)
	unmount := func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	}
	path := filepath.Join(dir, "gateway.db")
	db, _, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	update(t, db, func(tx *Tx) error { return fillRecords(tx, 20_000) })
	stop(t, db)
	unmount()
	raw := readFile(t, image)
	tool("mount", "-o", "loop", image, dir)
	at := strings.LastIndex(string(raw), `"name":"9876"`) // nothing behind it is delivered any more
	if err := os.Truncate(image, int64(at/pages.PageSize*pages.PageSize)); err != nil {
		t.Fatal(err)
	}
	db = wantOpenedBad(t, path, Options{Names: []string{records.Bucket()}})
	wantReadOnly(t, db, syscall.EIO, disk.Failing)
	wantRecords(t, db, 0, 19_999)
	stop(t, db)
	unmount()
}
