// Package storetest makes the disk below an open database fail, for tests.
package storetest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Break makes each further write of this process to the open file at path fail with EIO, as a card does that is worn out.
// What was mapped of the file can be read on. mend, which the end of the test calls too, gives the file back.
func Break(t testing.TB, path string) (mend func()) {
	t.Helper()
	bad, err := os.OpenFile(Failing(t), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	return replace(t, path, bad)
}

// Failing is a file that answers EIO wherever a database would be read or written; without one the test is skipped.
// The kernel answers so for the first pages of a process's memory.
func Failing(t testing.TB) string {
	t.Helper()
	const memory = "/proc/self/mem"
	bad, err := os.Open(memory)
	if err != nil {
		t.Fatal(err)
	}
	defer bad.Close()
	for at := int64(0); at < 1<<20; at += 4096 {
		if _, err := bad.ReadAt(make([]byte, 1), at); !errors.Is(err, unix.EIO) {
			t.Skip("an emulator uses the first pages of the memory of this process: no file here fails with EIO")
		}
	}
	return memory
}

// Fill makes each further write fail with ENOSPC.
func Fill(t testing.TB, path string) (mend func()) {
	t.Helper()
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	return replace(t, path, full)
}

// replace puts bad where the process has path open for writing.
func replace(t testing.TB, path string, bad *os.File) (mend func()) {
	t.Helper()
	defer bad.Close()
	kept := map[int]int{} // the descriptor and a copy of it
	for _, fd := range writing(t, path) {
		copied, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		if err == nil {
			err = unix.Dup3(int(bad.Fd()), fd, unix.O_CLOEXEC)
		}
		if err != nil {
			t.Fatal(err)
		}
		kept[fd] = copied
	}
	if len(kept) == 0 {
		t.Fatalf("%s is not open for writing", path)
	}
	mend = func() {
		for fd, copied := range kept {
			if err := unix.Dup3(copied, fd, unix.O_CLOEXEC); err != nil {
				t.Error(err)
			}
			_ = unix.Close(copied)
			delete(kept, fd)
		}
	}
	t.Cleanup(mend)
	return mend
}

// writing are the descriptors by which path is open for writing.
func writing(t testing.TB, path string) (found []int) {
	t.Helper()
	want, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		var fd int
		if _, err := fmt.Sscan(filepath.Base(link), &fd); err != nil {
			continue
		}
		at, err := os.Readlink(link)
		if err != nil || strings.TrimSuffix(at, " (deleted)") != want {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err == nil && flags&unix.O_ACCMODE != unix.O_RDONLY {
			found = append(found, fd)
		}
	}
	return found
}
