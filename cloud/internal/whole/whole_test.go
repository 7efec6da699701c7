package whole

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A file is replaced, with its rights, also beside what a power cut has left.
func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, c := range []struct {
		text string
		mode fs.FileMode
	}{{"first", 0o644}, {"second", 0o600}} {
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), ".file.new"), []byte("hal"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := Write(path, []byte(c.text), c.mode); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(path)
		info, _ := os.Stat(path)
		if err != nil || string(raw) != c.text || info.Mode() != c.mode {
			t.Errorf("it has %q, %v, %v", raw, info.Mode(), err)
		}
	}
	all, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(all) != 1 {
		t.Errorf("beside it are %v, %v", all, err)
	}
	if err := Write(filepath.Join(path, "no", "folder"), nil, 0o600); err == nil {
		t.Error("it was written into no folder")
	}
}
