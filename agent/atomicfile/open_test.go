package atomicfile

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// What is no file is refused at once, whoever would write into it.
func TestOnlyFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	file, pipe, link := filepath.Join(dir, "file"), filepath.Join(dir, "pipe"), filepath.Join(dir, "link")
	for _, err := range []error{os.WriteFile(file, []byte("twelve bytes"), 0o600), syscall.Mkfifo(pipe, 0o600), os.Symlink(file, link)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		path  string
		flags int
		want  string // of the error
	}{
		{path: file}, {path: link}, {path: pipe, want: "is a pipe and no file"}, {path: pipe, flags: os.O_WRONLY, want: "is a pipe and no file"},
		{path: dir, want: "is a folder and no file"}, {path: dir, flags: os.O_WRONLY, want: "is a folder and no file"},
		{path: "/dev/zero", want: "is a device and no file"}, {path: link, flags: unix.O_NOFOLLOW, want: "is a link"},
		{path: filepath.Join(dir, "none"), want: "no such file"},
	} {
		f, err := Open(c.path, c.flags)
		if err == nil {
			f.Close()
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s with %#x: %v, want %q", c.path, c.flags, err, c.want)
		}
	}
	if data, err := Read(file, 0, 5); err != nil || string(data) != "twelve" {
		t.Errorf("%q, %v: want one byte more than 5", data, err)
	}
}
