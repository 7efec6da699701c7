package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// is says what a folder holds, in one line.
func is(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		info, err := e.Info()
		text, e2 := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil || e2 != nil {
			t.Fatal(err, e2)
		}
		all = append(all, e.Name()+" "+info.Mode().String()+" "+string(text))
	}
	return strings.Join(all, "; ")
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	for _, text := range []string{"one", "two, which is longer", ""} {
		if err := Write(path, []byte(text), nil); err != nil {
			t.Fatal(err)
		}
		if got := is(t, dir); got != "a -rw------- "+text {
			t.Errorf("%q", got)
		}
	}
	err := Write(path, []byte("three"), func(f *os.File) error { return f.Chmod(0o640) })
	if got := is(t, dir); err != nil || got != "a -rw-r----- three" {
		t.Errorf("%v, %q", err, got)
	}
}

// What cannot be finished leaves the old one, and nothing else.
func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := Write(path, []byte("old"), nil); err != nil {
		t.Fatal(err)
	}
	full := errors.New("full")
	if err := Write(path, []byte("new"), func(*os.File) error { return full }); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	if got := is(t, dir); got != "a -rw------- old" {
		t.Errorf("%q", got)
	}
	if err := Write(filepath.Join(dir, "none", "a"), nil, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// What a power cut has left, readable to everybody and longer, is removed; a link
// that somebody has put there is not followed.
func TestWriteAfterAPowerCut(t *testing.T) {
	dir := t.TempDir()
	path, left := filepath.Join(dir, "a"), filepath.Join(dir, ".a.new")
	if err := os.WriteFile(left, []byte("left, and long"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, []byte("new"), nil); err != nil {
		t.Fatal(err)
	}
	if got := is(t, dir); got != "a -rw------- new" {
		t.Errorf("%q", got)
	}
	if err := os.Symlink(path, left); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, []byte("newer"), nil); err != nil {
		t.Fatal(err)
	}
	if got := is(t, dir); got != "a -rw------- newer" {
		t.Errorf("%q", got)
	}
}
