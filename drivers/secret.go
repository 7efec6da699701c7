package drivers

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
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
	b, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read secret: %w", err)
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimRight(line, "\r"), nil
}
