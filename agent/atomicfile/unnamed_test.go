package atomicfile

import (
	"io"
	"os"
	"testing"
)

// TestUnnamed: what is written can be read, only its owner may, and nothing lies in the folder.
func TestUnnamed(t *testing.T) {
	folder := t.TempDir()
	f, err := Unnamed(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("text"); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(io.NewSectionReader(f, 0, 10))
	if info, e := f.Stat(); err != nil || e != nil || string(got) != "text" || info.Mode().Perm() != 0o600 {
		t.Errorf("%q %v %v", got, err, e)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("in the folder lies %v: %v", left, err)
	}
	if _, err := Unnamed(folder + "/nowhere"); err == nil {
		t.Error("it opens one in no folder")
	}
}
