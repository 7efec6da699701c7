package backup

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func write(t *testing.T, path, text string, mode os.FileMode) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// What the configuration names in its own folder and among the credentials goes
// along; what lies elsewhere, is none or is too large is named.
func TestCollectNamed(t *testing.T) {
	folder, elsewhere, handed := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("CREDENTIALS_DIRECTORY", handed)
	cert := write(t, filepath.Join(folder, "tls/cert.pem"), "cert", 0o640)
	write(t, filepath.Join(folder, "credentials/hub"), "hub", 0o600)
	write(t, filepath.Join(handed, "secret_cloud"), "cloud", 0o400)
	write(t, filepath.Join(elsewhere, "key.pem"), "key", 0o600)
	large := write(t, filepath.Join(folder, "large"), strings.Repeat("x", maxNamedSize+1), 0o600)
	link, pipe := filepath.Join(folder, "link"), filepath.Join(folder, "pipe")
	for _, err := range []error{os.Symlink(filepath.Join(elsewhere, "key.pem"), link), syscall.Mkfifo(pipe, 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	left := []string{filepath.Join(elsewhere, "key.pem"), link, pipe, large, filepath.Join(folder, "gone"), folder,
		folder + "/../x", "${CREDENTIALS_DIRECTORY}/secret_none", "${CREDENTIALS_DIRECTORY}/secret_../cloud", "${CREDENTIALS_DIRECTORY}/other"}
	n := CollectNamed(append([]string{cert, "${CREDENTIALS_DIRECTORY}/secret_hub", "${CREDENTIALS_DIRECTORY}/secret_cloud",
		filepath.Join(folder, "credentials/hub")}, left...), folder, folder)
	if !slices.Equal(n.Left, left) {
		t.Errorf("left %q", n.Left)
	}
	got := ""
	for _, s := range n.Files {
		text, _ := io.ReadAll(s)
		got += s.Name + " " + string(text) + " " + s.Mode.String() + "\n"
	}
	if want := "files/tls/cert.pem cert -rw-r-----\ncredentials/hub hub -rw-------\ncredentials/cloud cloud -rw-------\n"; got != want {
		t.Errorf("collected\n%swant\n%s", got, want)
	}
	if n := CollectNamed([]string{cert}, "", folder); len(n.Left) != 1 {
		t.Errorf("without a file: %+v", n)
	}
}

func TestPutNamed(t *testing.T) {
	old, fresh := t.TempDir(), filepath.Join(t.TempDir(), "etc/roomgate")
	t.Setenv("CREDENTIALS_DIRECTORY", "")
	names := []string{write(t, filepath.Join(old, "tls/cert.pem"), "cert", 0o644), write(t, filepath.Join(old, "same"), "same", 0o600),
		write(t, filepath.Join(old, "newer"), "old", 0o600), "${CREDENTIALS_DIRECTORY}/secret_hub"}
	write(t, filepath.Join(old, "credentials/hub"), "hub", 0o600)
	sources := []Source{}
	for _, name := range []string{ConfigName, SecretName, DatabaseName} {
		sources = append(sources, Source{Name: name, ReadSeeker: strings.NewReader("x")})
	}
	var b bytes.Buffer
	if err := Write(t.Context(), &b, of, append(sources, CollectNamed(names, old, old).Files...), func(int64, int64) {}); err != nil {
		t.Fatal(err)
	}
	o, err := Read(t.Context(), &b, 1, "", func(int64, int64) {})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(fresh, "same"), "same", 0o600)
	write(t, filepath.Join(fresh, "newer"), "new", 0o600)
	put, kept, err := Places{fresh, old}.Put(o)
	if err != nil || !slices.Equal(put, []string{filepath.Join(fresh, "tls/cert.pem"), filepath.Join(fresh, "credentials/hub")}) ||
		!slices.Equal(kept, []string{filepath.Join(fresh, "newer")}) {
		t.Fatalf("put %q, kept %q, %v", put, kept, err)
	}
	for path, want := range map[string]string{"tls/cert.pem": "-rw-r--r-- cert", "credentials/hub": "-rw------- hub", "newer": "-rw------- new"} {
		info, err := os.Stat(filepath.Join(fresh, path))
		text, e := os.ReadFile(filepath.Join(fresh, path))
		if err != nil || e != nil || info.Mode().String()+" "+string(text) != want {
			t.Errorf("%s: %v %s, %v %v", path, info, text, err, e)
		}
	}
	if info, err := os.Stat(filepath.Join(fresh, "credentials")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder of passwords: %v %v", info, err)
	}
}

func TestNamesOfNamed(t *testing.T) {
	for name, good := range map[string]bool{"files/a": true, "files/a/b.pem": true, "credentials/x": true, "files/": false, "files/.": false,
		"files/../a": false, "files//a": false, "credentials/../../etc/passwd": false, "other/a": false, "a": false, "/files/a": false} {
		m := of
		m.Format = 1
		for _, n := range []string{ConfigName, SecretName, DatabaseName} {
			m.Files = append(m.Files, File{Name: n})
		}
		m.Files = append(m.Files, File{Name: name})
		if got := (Places{"/etc", ""}).Path(name) != ""; got != good || name != "a" && (m.check() == nil) != good {
			t.Errorf("%s: %v, %v", name, got, m.check())
		}
	}
}
