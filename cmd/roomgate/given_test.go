package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

// giving is a command that reads what it is given, from in also.
func giving(ctx context.Context, in io.Reader) *cobra.Command {
	cmd := &cobra.Command{}
	cmd.SetContext(ctx)
	cmd.SetIn(in)
	return cmd
}

// TestGiven: what a command line names is a file, or what the shell hands over, and has an end.
func TestGiven(t *testing.T) {
	dir := t.TempDir()
	pipe, file := filepath.Join(dir, "pp"), filepath.Join(dir, "file")
	if err := errors.Join(unix.Mkfifo(pipe, 0o600), os.WriteFile(file, []byte("first\r\nsecond\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{pipe: "is a pipe and no file: name a file", "/dev/zero": "is a device and no file: name a file",
		dir: "is a folder and no file: name a file", filepath.Join(dir, "none"): "no such file"} {
		if _, err := readGiven(giving(t.Context(), nil), path, 100); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := readGiven(giving(t.Context(), nil), file, 5); err == nil || !strings.HasSuffix(err.Error(), "file is larger than 5 bytes") {
		t.Errorf("a large one: %v", err)
	}
	for path, in := range map[string]io.Reader{file: nil, "-": strings.NewReader("first\nsecond")} {
		if line, err := lineGiven(giving(t.Context(), in), path, 100); line != "first" || err != nil {
			t.Errorf("%s: %q, %v", path, line, err)
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	_, err = w.WriteString("first\n")
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	if line, err := lineGiven(giving(t.Context(), nil), fmt.Sprintf("/proc/self/fd/%d", r.Fd()), 100); line != "first" || err != nil {
		t.Errorf("of the shell: %q, %v", line, err)
	}
}

// TestPipesAreRefused gives each command a pipe to which nobody writes where it wants a file.
func TestPipesAreRefused(t *testing.T) {
	dir := t.TempDir()
	pipe, card := filepath.Join(dir, "pp"), filepath.Join(dir, "card")
	t.Setenv(passphraseVariable, "four words of some length")
	if err := errors.Join(unix.Mkfifo(pipe, 0o600), os.Mkdir(card, 0o700), os.WriteFile(filepath.Join(card, "config.txt"), nil, 0o600),
		os.WriteFile(filepath.Join(dir, "gw.yaml"), []byte("gateway: {id: g}"), 0o600), os.WriteFile(filepath.Join(card, "cmdline.txt"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"setup --no-doctor --yes --config " + dir + "/g.yaml --answers " + pipe, "setup --no-doctor --yes --gateway g --config " + pipe,
		"setup --no-doctor --yes --gateway g --config " + card, "image seed " + card + " --answers " + pipe, "image seed " + dir + "/l --csv " + pipe,
		"backup " + dir + "/b --config " + dir + "/gw.yaml --data " + dir + " --passphrase-file " + pipe, "restore " + pipe, "version --sbom --of " + pipe,
		"update bundle --signing-key " + pipe + " a b", "store read " + pipe, "store check " + pipe, "cloud config g " + pipe} {
		ended := make(chan error, 1)
		go func() {
			root := newRoot()
			root.SetArgs(strings.Fields(args))
			root.SetIn(strings.NewReader(""))
			root.SetOut(io.Discard)
			root.SetErr(new(bytes.Buffer))
			_, err := root.ExecuteContextC(t.Context())
			ended <- err
		}()
		select {
		case err := <-ended:
			if err == nil || !strings.Contains(err.Error(), "and no file: name a file") {
				t.Errorf("%s: %v", args, err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s hangs", args)
		}
	}
}

// TestUnshown takes back what was made where nobody could see its secret.
func TestUnshown(t *testing.T) {
	full := errors.New("no space left on device")
	undone := 0
	undo := func(context.Context) error { undone++; return nil }
	if err := unshown(giving(t.Context(), nil), "key 7", undo, nil); err != nil || undone != 0 {
		t.Errorf("shown: %v, %d", err, undone)
	}
	if err := unshown(giving(t.Context(), nil), "key 7", undo, full); !errors.Is(err, full) || undone != 1 || !strings.Contains(err.Error(), "key 7 is taken back") {
		t.Errorf("not shown: %v, %d", err, undone)
	}
	gone := errors.New("gone")
	if err := unshown(giving(t.Context(), nil), "key 7", func(context.Context) error { return gone }, full); !errors.Is(err, gone) || !strings.Contains(err.Error(), "key 7 is made") {
		t.Errorf("neither: %v", err)
	}
}
