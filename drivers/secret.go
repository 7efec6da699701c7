package drivers

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"syscall"
)

// Secret is a password that no log, error or dump shows.
type Secret string

// String hides the secret from fmt.
func (Secret) String() string { return "***" }

// GoString hides the secret from %#v.
func (Secret) GoString() string { return "***" }

// LogValue hides the secret from slog.
func (Secret) LogValue() slog.Value { return slog.StringValue("***") }

// MarshalText hides the secret from encoders.
func (Secret) MarshalText() ([]byte, error) { return []byte("***"), nil }

// Reveal returns the secret, or the first line of file if one is named.
func (s Secret) Reveal(file string) (string, error) {
	if file == "" {
		return string(s), nil
	}
	b, err := ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read secret: %w", err)
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimRight(line, "\r"), nil
}

// maxFile bounds the file of a secret, or of certificates, in bytes.
const maxFile = 1 << 20

// ReadFile reads a file of at most 1 MiB, as of a secret. A pipe in its place would keep a start waiting for what nobody
// writes.
func ReadFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fmt.Errorf("%s is no file: name a file", path))
	}
	return io.ReadAll(io.LimitReader(f, maxFile))
}
