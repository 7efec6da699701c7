package disk

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// filled is a file of so many bytes that differ, synced.
func filled(t *testing.T, dir string, size int) (string, []byte) {
	t.Helper()
	raw := make([]byte, size)
	for i := range raw {
		raw[i] = byte(i ^ i>>8 ^ i>>16)
	}
	path := filepath.Join(dir, "file")
	if err := writeSynced(path, raw); err != nil {
		t.Fatal(err)
	}
	return path, raw
}

// resident says how much of a file is in memory, in bytes.
func resident(t *testing.T, path string) (n int) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	mapped, err := unix.Mmap(int(file.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(mapped)
	page := os.Getpagesize()
	held := make([]byte, (len(mapped)+page-1)/page)
	if _, _, e := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&mapped[0])), uintptr(len(mapped)), uintptr(unsafe.Pointer(&held[0]))); e != 0 {
		t.Fatal(e)
	}
	for _, h := range held {
		n += int(h&1) * page
	}
	return n
}

// TestUncached: any piece of a file is what the file has there, whether or not the file system reads past the memory.
func TestUncached(t *testing.T) {
	dirs := map[string]string{"here": t.TempDir()}
	if dir, err := os.MkdirTemp("/dev/shm", "uncached"); err == nil {
		dirs["in memory"] = dir
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
	}
	for name, dir := range dirs {
		const size = 5*block + 700
		path, want := filled(t, dir, size)
		u, err := OpenUncached(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: direct %v", name, u.direct)
		for _, direct := range []bool{u.direct, false} {
			if u.direct = direct; !direct {
				if err := u.buffered(); err != nil {
					t.Fatal(err)
				}
			}
			for _, c := range []struct{ at, n int }{{0, size}, {0, block}, {block, 2 * block}, {16, 64}, {block + 16, 64}, {block - 1, 2}, {size - 1, 1}, {size - 700, 700}, {1, 3 * block}} {
				got := make([]byte, c.n)
				n, err := u.ReadAt(got, int64(c.at))
				if n != c.n || err != nil && !errors.Is(err, io.EOF) || !bytes.Equal(got, want[c.at:c.at+c.n]) {
					t.Errorf("%s, direct %v: %d at %d gives %d, %v", name, direct, c.n, c.at, n, err)
				}
			}
			for _, c := range []struct{ at, n, want int }{{size - 10, 20, 10}, {size, 1, 0}, {size + 2*block, 1, 0}} {
				if n, err := u.ReadAt(make([]byte, c.n), int64(c.at)); n != c.want || !errors.Is(err, io.EOF) {
					t.Errorf("%s, direct %v: behind the end, at %d: %d, %v", name, direct, c.at, n, err)
				}
			}
		}
		if err := u.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := OpenUncached(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// TestForget: nothing of a file stays in memory, and a direct read brings nothing back.
func TestForget(t *testing.T) {
	path, want := filled(t, t.TempDir(), 40*block)
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) || resident(t, path) < len(want) {
		t.Fatal("what was read is not in memory", err)
	}
	Forget(path)
	if n := resident(t, path); n > 0 {
		t.Skipf("the file system here keeps %d bytes in memory", n)
	}
	u, err := OpenUncached(path)
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	got := make([]byte, len(want))
	if _, err := u.ReadAt(got, 0); err != nil || !bytes.Equal(got, want) {
		t.Errorf("it is read wrongly, %v", err)
	}
	if n := resident(t, path); u.direct && n > 0 {
		t.Errorf("%d bytes came through the memory", n)
	}
	Forget(filepath.Join(t.TempDir(), "none"))
}
