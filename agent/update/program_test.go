package update

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// A file that changes once it was verified changes nothing that starts.
func TestProgramIsWhatWasVerified(t *testing.T) {
	r := settled(t)
	one, err := r.as("1.0.0").Choose()
	must(t, err)
	defer one.Close()
	put(t, r.Path(one.Release), []byte("#!/bin/sh\n"))
	_, writeErr := one.file.WriteAt([]byte("x"), 0)
	again, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", one.file.Fd()), os.O_RDWR, 0)
	must(t, err)
	defer again.Close()
	_, againErr := again.WriteAt([]byte("x"), 0)
	_, mapErr := unix.Mmap(int(again.Fd()), 0, 4096, unix.PROT_WRITE, unix.MAP_SHARED)
	for i, err := range []error{writeErr, againErr, mapErr, again.Truncate(1), again.Truncate(1 << 20)} {
		if !errors.Is(err, unix.EPERM) {
			t.Errorf("change %d: %v", i, err)
		}
	}
	if data, err := io.ReadAll(io.NewSectionReader(one.file, 0, MaxBinary)); err != nil || !bytes.Equal(data, binaryOf("1.2.0")) {
		t.Errorf("it is another one now: %v", err)
	}
}

// BenchmarkStart is what a start spends on a release of 20 MB that the kernel has
// read before, beside the hash alone, which it has taken since there are releases.
func BenchmarkStart(b *testing.B) {
	data := make([]byte, 20<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(data)
	var packed bytes.Buffer
	r := New(b.TempDir(), "1.0.0", 1, vendorKeys())
	if err := Write(&packed, manifestOf("1.1.0"), data, vendor); err != nil {
		b.Fatal(err)
	}
	if _, err := r.Install(b.Context(), &packed, Install{}); err != nil {
		b.Fatal(err)
	}
	b.Run("verified", func(b *testing.B) {
		for b.Loop() {
			one, err := r.verify("1.1.0", 0)
			if err == nil {
				err = one.Close()
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("hash", func(b *testing.B) {
		for b.Loop() {
			f, err := os.Open(r.in("1.1.0", binaryName))
			if err == nil {
				_, err = io.Copy(sha256.New(), f)
				f.Close()
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}
