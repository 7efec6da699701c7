package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestHardwareID(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := hardwareID(root); got != "" {
		t.Errorf("a machine without names is %q", got)
	}
	write("etc/machine-id", "uninitialized\n")
	if got := hardwareID(root); got != "" {
		t.Errorf("a machine that is just being made is %q", got)
	}
	write("etc/machine-id", "0123456789abcdef0123456789abcdef\n")
	machine := hardwareID(root)
	write("sys/firmware/devicetree/base/serial-number", "0000000000000000\x00")
	if got := hardwareID(root); got != machine || len(got) != 64 {
		t.Errorf("a board without a number is %q", got)
	}
	write("sys/firmware/devicetree/base/serial-number", "10000000a1b2c3d4\x00")
	board := hardwareID(root)
	write("etc/machine-id", "fedcba9876543210fedcba9876543210\n")
	if got := hardwareID(root); got != board || got == machine || strings.Contains(got, "a1b2c3d4") {
		t.Errorf("a board is %q after its system was made again, %q before", got, board)
	}
}
