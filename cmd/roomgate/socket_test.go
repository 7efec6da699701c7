package main

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// shortDir is a directory whose path a socket's name has room for.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "rg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func open(t *testing.T, dir string, mode os.FileMode) *controlSocket {
	t.Helper()
	lock, err := lockDirectory(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := openSocket(dir, lock, mode)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSocket(t *testing.T) {
	dir := shortDir(t)
	for _, mode := range []os.FileMode{0o600, 0o660} {
		s := open(t, dir, mode)
		path := filepath.Join(dir, socketName)
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("mode %v, %v, want %v", info.Mode(), err, mode)
		}
		if found, err := findSocket(dir); err != nil || found != path {
			t.Errorf("found %q, %v", found, err)
		}
		if _, err := lockDirectory(dir); err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("a second gateway: %v", err)
		}
		if err := errors.Join(s.Close(), s.Close()); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the socket is left behind: %v", err)
		}
	}
}

// What a killed process leaves is replaced, and not taken for a gateway.
func TestStaleSocket(t *testing.T) {
	dir := shortDir(t)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, socketName), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	var f *fault
	if _, err := findSocket(dir); !errors.As(err, &f) || f.code != exitUnreachable {
		t.Errorf("a stale socket: %v", err)
	}
	s := open(t, dir, 0o600)
	defer s.Close()
	if _, err := findSocket(dir); err != nil {
		t.Error(err)
	}
}

// On a disk that takes no socket there is one elsewhere, which is found by the name that
// people give the directory, and of which nothing is left.
func TestSocketOfAReadOnlyDisk(t *testing.T) {
	dir := shortDir(t)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_RDONLY, ""); err != nil {
		t.Skipf("a disk cannot be mounted here: %v", err)
	}
	unmount := sync.OnceValue(func() error { return syscall.Unmount(dir, syscall.MNT_DETACH) })
	defer unmount()
	t.Setenv("TMPDIR", shortDir(t))
	s := open(t, dir, 0o600)
	t.Chdir(filepath.Dir(dir))
	if path, err := findSocket(filepath.Base(dir)); err != nil || path != s.Addr().String() {
		t.Errorf("found %q, %v, want %s", path, err, s.Addr())
	}
	left := func() []string { all, _ := filepath.Glob(os.TempDir() + "/roomgate-*"); return all }
	if err := s.Close(); err != nil || len(left()) > 0 {
		t.Errorf("%v, left behind: %q", err, left())
	}
	s = open(t, dir, 0o600)
	s.Listener.(*net.UnixListener).SetUnlinkOnClose(false)
	s.made = "" // as if it was killed
	if err := errors.Join(s.Close(), unmount()); err != nil || len(left()) != 1 {
		t.Fatalf("%v, left behind: %q", err, left())
	}
	s = open(t, dir, 0o600)
	defer s.Close()
	if len(left()) > 0 {
		t.Errorf("left behind by a start that was killed: %q", left())
	}
}

func TestSocketPathIsBounded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	lock, err := lockDirectory(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	var f *fault
	if _, err := openSocket(dir, lock, 0o600); !errors.As(err, &f) || f.code != exitConfig || !strings.Contains(err.Error(), "--data") {
		t.Errorf("got %v", err)
	}
}

func TestDemoDirectoryIsOnesOwn(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := own(dir); err != nil {
		t.Error(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if own(link) == nil {
		t.Error("a link to a directory was taken")
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if own(dir) == nil {
		t.Error("a directory that others can enter was taken")
	}
}

func TestDemoDirectories(t *testing.T) {
	runtime := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	t.Setenv("TMPDIR", "/elsewhere")
	first := demoDirectories()
	if first[0] != runtime+"/roomgate-demo" || !strings.HasPrefix(first[1], "/elsewhere/roomgate-demo-") {
		t.Errorf("got %v", first)
	}
	t.Setenv("XDG_RUNTIME_DIR", runtime+"/missing")
	if without := demoDirectories(); without[0] != first[1] {
		t.Errorf("got %v", without)
	}
}

func TestSocketPlace(t *testing.T) {
	for _, c := range []struct {
		runtime, data, dir string
		mode               os.FileMode
	}{
		{"", "/var/lib/roomgate", "/var/lib/roomgate", 0o600},
		{"/run/roomgate:/run/other", "/var/lib/roomgate", "/run/roomgate", 0o660},
		{"/run/roomgate", "/tmp/mine", "/tmp/mine", 0o600},
	} {
		t.Setenv("RUNTIME_DIRECTORY", c.runtime)
		if dir, mode := socketPlace(c.data); dir != c.dir || mode != c.mode {
			t.Errorf("%+v: got %s, %v", c, dir, mode)
		}
	}
}

// No restart gives a gateway a right to its data directory.
func TestDirectoryThatMayNotBeUsed(t *testing.T) {
	for _, verb := range []string{"make", "lock"} {
		var coded *fault
		err := noDirectory(verb, "/var/lib/roomgate", &os.PathError{Op: "open", Path: "/var/lib/roomgate", Err: syscall.EACCES})
		if !errors.As(err, &coded) || coded.code != exitConfig || !strings.Contains(err.Error(), "give /var/lib/roomgate to the user of the gateway") {
			t.Error(err)
		}
	}
	if err := noDirectory("make", "/x", syscall.ENOTDIR); errors.As(err, new(*fault)) {
		t.Error(err)
	}
}
