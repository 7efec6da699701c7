package store

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/store/disk"
	"roomgate/store/pages"
)

// slowDisk delivers so many bytes a second.
type slowDisk struct {
	io.ReaderAt
	rate int
}

func (d slowDisk) ReadAt(p []byte, at int64) (int, error) {
	time.Sleep(time.Duration(len(p)) * time.Second / time.Duration(d.rate))
	return d.ReaderAt.ReadAt(p, at)
}

// A worn card once delivered 0.8 MB a second, and a sound database of 26.7 MB was thrown away after 30 s.
func TestSlowDiskIsNoDamage(t *testing.T) {
	path := filled(t, Options{})
	data := readFile(t, path)
	rate := len(data) / 3600 // the whole takes about an hour
	synctest.Test(t, func(t *testing.T) {
		began, last := time.Now(), int64(0)
		told := func(done, total int64) {
			if done < last || done > total || total != int64(len(data)) {
				t.Errorf("%d of %d after %d", done, total, last)
			}
			last = done
		}
		slow := disk.Counted{Ctx: t.Context(), ReaderAt: slowDisk{bytes.NewReader(data), rate}, Tally: &disk.Tally{Total: int64(len(data)), Progress: told}}
		if err := verifyImage(slow, int64(len(data))); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took < 10*time.Minute || last == 0 {
			t.Errorf("the disk took only %v, %d bytes told", took, last)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		stopped := disk.Counted{Ctx: ctx, ReaderAt: slowDisk{bytes.NewReader(data), rate}, Tally: &disk.Tally{Total: int64(len(data))}}
		if err := verifyImage(stopped, int64(len(data))); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrDamaged) {
			t.Errorf("a check that was stopped says %v", err)
		}
	})
}

// faultyDisk cannot deliver what lies behind good bytes.
type faultyDisk struct {
	io.ReaderAt
	good int64
	err  error
}

func (d faultyDisk) ReadAt(p []byte, at int64) (int, error) {
	if at+int64(len(p)) > d.good {
		return 0, d.err
	}
	return d.ReaderAt.ReadAt(p, at)
}

func TestWhatTheDiskDoesNotDeliverIsNotCalledDamaged(t *testing.T) {
	data := readFile(t, filled(t, Options{}))
	for _, fault := range []error{syscall.EIO, syscall.EACCES, syscall.ENOMEM, os.ErrClosed} {
		for good := int64(0); good < int64(len(data)); good += 3 * pages.PageSize {
			err := verifyImage(faultyDisk{bytes.NewReader(data), good, fault}, int64(len(data)))
			if err == nil {
				continue // nothing behind it is in use
			}
			if !errors.Is(err, ErrUnreadable) || !errors.Is(err, fault) || errors.Is(err, ErrDamaged) {
				t.Fatalf("%v behind %d bytes: %v", fault, good, err)
			}
		}
	}
}

// The kernel answers EIO for the first page of a process's memory, as a card does for a bad sector.
func TestUnreadableFileIsNotSetAside(t *testing.T) {
	path := filled(t, Options{})
	if err := errors.Join(os.Remove(path), os.Symlink("/proc/self/mem", path)); err != nil {
		t.Fatal(err)
	}
	db, report, err := Open(context.Background(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	wantReadOnly(t, db, ErrUnreadable, disk.Failing)
	stop(t, db)
	if target, _ := os.Readlink(path); target != "/proc/self/mem" || !report.ReadOnly || report.Quarantined != "" {
		t.Errorf("%s, %+v", target, report)
	}
	names, err := Files(path)
	for _, name := range names {
		if strings.Contains(filepath.Base(name), kindDamaged) {
			t.Errorf("%s was set aside", name)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

func TestStoppedOpenSetsNothingAside(t *testing.T) {
	path := filled(t, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	_, report, err := Open(ctx, path, Options{Progress: func(int64, int64) { cancel() }})
	wantError(t, err, context.Canceled)
	if report != (Report{}) || errors.Is(err, ErrDamaged) {
		t.Errorf("report %+v, %v", report, err)
	}
	if err := Verify(path); err != nil {
		t.Error(err)
	}
}

func TestStoppedReadAsideSaysSo(t *testing.T) {
	path := filled(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := ReadAside(ctx, path, Options{}, func(StoredRow) error { return nil })
	wantError(t, err, context.Canceled)
}
