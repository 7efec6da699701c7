package certificate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestNoFile: a pipe or a device in the place of certificates or of a key is refused at once.
func TestNoFile(t *testing.T) {
	f := first(t)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{pipe, "/dev/zero", t.TempDir()} {
		_, authorities := Authorities(bad)
		_, pair := ReadPair(f.certificate, bad)
		_, other := ReadPair(bad, f.key)
		_, whole := Read("http.tls", bad, f.key)
		for what, err := range map[string]error{"authorities": authorities, "key": pair, "certificate": other, "http.tls": whole} {
			if err == nil || !strings.Contains(err.Error(), "and no file: name a file") {
				t.Errorf("%s as %s: %v", bad, what, err)
			}
		}
	}
}

// TestAuthorities: no file are those of the system, and an empty file is none.
func TestAuthorities(t *testing.T) {
	own, _ := issue(t, 1, time.Now(), time.Now().Add(time.Hour))
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, own, 0o600); err != nil {
		t.Fatal(err)
	}
	if pool, err := Authorities(""); pool != nil || err != nil {
		t.Errorf("of no file: %v, %v", pool, err)
	}
	if pool, err := Authorities(file); pool == nil || err != nil {
		t.Errorf("of a file: %v, %v", pool, err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Authorities(file); err == nil || !strings.HasSuffix(err.Error(), "holds no certificate") {
		t.Errorf("of an empty file: %v", err)
	}
}
