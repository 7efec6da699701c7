package devicesecret

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"roomgate/agent/auth"
)

func TestDeviceSecret(t *testing.T) {
	dir := t.TempDir()
	log := slog.New(slog.DiscardHandler)
	first, err := read(dir, log)
	if err != nil || len(first) != auth.SecretSize {
		t.Fatal(err)
	}
	if again, err := read(dir, log); err != nil || !bytes.Equal(first, again) {
		t.Errorf("another one, %v", err)
	}
	info, err := os.Stat(filepath.Join(dir, File))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := os.WriteFile(filepath.Join(dir, File), first[:7], 0o600); err != nil {
		t.Fatal(err)
	}
	if again, err := read(dir, log); err != nil || len(again) != auth.SecretSize || bytes.Equal(first, again) {
		t.Errorf("a damaged one: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := read(filepath.Join(dir, "nowhere"), log); err == nil {
		t.Error("no folder, no error")
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	hash := func(hardware string) string {
		t.Helper()
		keys, err := Open(dir, hardware, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		return string(keys.Hash("a test", "text"))
	}
	first := hash("board-a")
	if hash("board-a") != first || hash("") != first {
		t.Error("the second start has other keys")
	}
	if hash("board-b") == first {
		t.Error("other hardware has the same keys")
	}
}
