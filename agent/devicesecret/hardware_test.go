package devicesecret

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestACopiedCardGetsANewIdentity(t *testing.T) {
	dir := t.TempDir()
	var said bytes.Buffer
	log := slog.New(slog.NewTextHandler(&said, nil))
	start := func(hardware string) []byte {
		t.Helper()
		said.Reset()
		if err := leaveOther(dir, hardware, log); err != nil {
			t.Fatal(err)
		}
		secret, err := read(dir, log)
		if err != nil {
			t.Fatal(err)
		}
		return secret
	}
	before, err := read(dir, log) // of a gateway from before there was such a file
	if err != nil {
		t.Fatal(err)
	}
	for _, same := range []string{"", "board-a", "board-a", ""} {
		if got := start(same); !bytes.Equal(got, before) || said.Len() > 0 {
			t.Fatalf("on hardware %q there is another secret: %s", same, &said)
		}
	}
	copied := start("board-b")
	if bytes.Equal(copied, before) || !strings.Contains(said.String(), "new identity") {
		t.Errorf("the copy has the secret of the original: %s", &said)
	}
	if kept, _ := os.ReadFile(filepath.Join(dir, File+".before")); !bytes.Equal(kept, before) {
		t.Error("the secret before is gone")
	}
	if got := start("board-b"); !bytes.Equal(got, copied) || said.Len() > 0 {
		t.Errorf("it is made a second time: %s", &said)
	}
	if err := os.Rename(filepath.Join(dir, File+".before"), filepath.Join(dir, File)); err != nil {
		t.Fatal(err)
	}
	if got := start("board-b"); !bytes.Equal(got, before) {
		t.Error("a card that was moved does not get its secret back")
	}
}

// A power cut after each step, and a file that a cut has left damaged.
func TestHardwareAfterAPowerCut(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	for name, left := range map[string]func(dir string) error{
		"the secret is aside": func(dir string) error {
			return os.Rename(filepath.Join(dir, File), filepath.Join(dir, File+".before"))
		},
		"nothing is done": func(string) error { return nil },
	} {
		dir := t.TempDir()
		if err := leaveOther(dir, "board-a", log); err != nil {
			t.Fatal(err)
		}
		before, _ := read(dir, log)
		if err := left(dir); err != nil {
			t.Fatal(err)
		}
		if err := leaveOther(dir, "board-b", log); err != nil {
			t.Fatal(err)
		}
		now, err := read(dir, log)
		kept, _ := os.ReadFile(filepath.Join(dir, File+".before"))
		if err != nil || bytes.Equal(now, before) || !bytes.Equal(kept, before) {
			t.Errorf("%s: %v", name, err)
		}
	}
	dir := t.TempDir()
	before, _ := read(dir, log)
	if err := os.WriteFile(filepath.Join(dir, BoardFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := leaveOther(dir, "board-a", log); err != nil {
		t.Fatal(err)
	}
	if now, _ := read(dir, log); !bytes.Equal(now, before) {
		t.Error("a damaged file costs the secret")
	}
}
