package main

import (
	"bytes"
	"os"
	"runtime"
	"strings"
	"testing"
)

// TestArchitectureOf reads it from the head of a program.
func TestArchitectureOf(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if arch, err := architectureOf(program); err != nil || arch != runtime.GOARCH {
		t.Errorf("this program is for %q, %v", arch, err)
	}
	arm, other, big := bytes.Clone(program[:64]), bytes.Clone(program[:64]), bytes.Clone(program[:64])
	arm[18], other[18], big[5] = 40, 3, 2
	if arch, err := architectureOf(arm); arch != "arm" {
		t.Errorf("a program for arm is for %q, %v", arch, err)
	}
	for want, raw := range map[string][]byte{"its machine is 3": other, "no ELF file": []byte("#!/bin/sh\n"), "little endian": big} {
		if arch, err := architectureOf(raw); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v", want, arch, err)
		}
	}
}
