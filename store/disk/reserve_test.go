package disk

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func openedReserve(t *testing.T, path string) *Reserve {
	t.Helper()
	r, err := OpenReserve(path, 4096)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func wantKept(t *testing.T, r *Reserve, want ...string) {
	t.Helper()
	var got []string
	for _, record := range r.Kept() {
		got = append(got, string(record))
	}
	if !slices.Equal(got, want) {
		t.Errorf("kept %q, want %q", got, want)
	}
}

// What is put is there after a restart, whatever was there before, and a torn record is none.
func TestReserve(t *testing.T) {
	path := filepath.Join(t.TempDir(), "reserve")
	r := openedReserve(t, path)
	for _, text := range []string{"one", "two", "three"} {
		if err := r.Put([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	r = openedReserve(t, path)
	wantKept(t, r, "one", "two", "three")
	if err := r.Clear(); err != nil {
		t.Fatal(err)
	}
	wantKept(t, openedReserve(t, path))
	if err := r.Put([]byte("new")); err != nil { // as long as the first one was
		t.Fatal(err)
	}
	wantKept(t, openedReserve(t, path), "new")
	if err := errors.Join(r.Replace([][]byte{[]byte("short")}), r.Put([]byte("behind it"))); err != nil {
		t.Error(err)
	}
	wantKept(t, openedReserve(t, path), "short", "behind it")
	raw := readAll(t, path)
	raw[bytes.Index(raw, []byte("new"))+1] ^= 1 // torn
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	wantKept(t, openedReserve(t, path))
}

// What does not fit is kept in a larger file for the next process, which makes it small again.
func TestReserveIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "reserve")
	r := openedReserve(t, path)
	if err := r.Put([]byte("before")); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 5000)
	if err := r.Replace([][]byte{[]byte(long), []byte("last")}); err != nil {
		t.Fatal(err)
	}
	if err := r.Put([]byte("later")); !errors.Is(err, ErrReserve) {
		t.Errorf("a record beyond its size at once: %v", err)
	}
	r = openedReserve(t, path)
	wantKept(t, r, long, "last")
	if err := r.Put([]byte("more")); !errors.Is(err, ErrReserve) {
		t.Errorf("a record beyond its size: %v", err)
	}
	if err := r.Clear(); err != nil {
		t.Fatal(err)
	}
	if raw := readAll(t, path); len(raw) != 4096 {
		t.Errorf("it has %d bytes again", len(raw))
	}
	if err := r.Put([]byte("new")); err != nil {
		t.Error(err)
	}
	wantKept(t, openedReserve(t, path), "new")
	if err := r.Replace([][]byte{make([]byte, mostReserve)}); !errors.Is(err, ErrReserve) {
		t.Errorf("more than is read: %v", err)
	}
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	if r.Replace([][]byte{[]byte("x")}) == nil {
		t.Error("no folder, no error")
	}
}

// Its room was taken beforehand, and it takes no more than that.
func TestReserveIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "reserve")
	r := openedReserve(t, path)
	n := 0
	for ; r.Put(make([]byte, 100)) == nil; n++ {
		if n > 100 {
			t.Fatal("it never ends")
		}
	}
	if err := r.Put(make([]byte, 100)); !errors.Is(err, ErrReserve) {
		t.Errorf("error is %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 4096 || n != 4096/108 {
		t.Errorf("%d records, %v, %v", n, info, err)
	}
	none, err := OpenReserve(filepath.Join(path, "nowhere"), 4096)
	if err == nil {
		t.Error("no folder, no error")
	}
	if err := none.Put([]byte("x")); !errors.Is(err, ErrReserve) {
		t.Errorf("error is %v", err)
	}
}

func readAll(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
