package webhook

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"roomgate/agent/printable"
)

const (
	// secretPrefix begins a secret whose rest is base64 (Standard Webhooks).
	secretPrefix = "whsec_"
	secretBytes  = 32 // of one that we make; the standard wants 24 to 64

	minSecret = 8 // bytes as written
	maxSecret = 256

	// Overlap is how long an old secret still signs after a rotation that does
	// not say, and MaxOverlap how long at most.
	Overlap    = 24 * time.Hour
	MaxOverlap = 30 * 24 * time.Hour
)

// Secret is what notifications are signed with. Signing needs it as it is, so
// it can be encrypted but not hashed; no log, error or dump shows it.
type Secret string

// Format hides the secret from every verb of fmt.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("***")) }

// LogValue hides the secret from slog.
func (Secret) LogValue() slog.Value { return slog.StringValue("***") }

// NewSecret makes a secret of 256 random bits.
func NewSecret() Secret {
	random := make([]byte, secretBytes)
	_, _ = rand.Read(random) // never fails (crypto/rand)
	return Secret(secretPrefix + base64.StdEncoding.EncodeToString(random))
}

// check refuses what could not be a secret, or could be guessed.
func (s Secret) check() error {
	text := string(s)
	if len(text) < minSecret || len(text) > maxSecret {
		return invalid("secret", "has %d bytes: want %d to %d, or leave it out and one is made", len(text), minSecret, maxSecret)
	}
	if !printable.Line(text) {
		return invalid("secret", "has characters that cannot be written: want text without control characters")
	}
	if rest, ok := strings.CutPrefix(text, secretPrefix); ok {
		if key, err := base64.StdEncoding.DecodeString(rest); err != nil || len(key) == 0 {
			return invalid("secret", "begins with %s and goes on with what is not base64: mend it, or choose another beginning", secretPrefix)
		}
	}
	return nil
}

// standardKey is the key of the Standard Webhooks signature.
func (s Secret) standardKey() []byte {
	if rest, ok := strings.CutPrefix(string(s), secretPrefix); ok {
		if key, err := base64.StdEncoding.DecodeString(rest); err == nil {
			return key
		}
	}
	return []byte(s)
}

// Secrets are the one or two that sign.
type Secrets struct {
	Current  Secret    `json:"current"`
	Previous Secret    `json:"previous,omitempty"`
	Until    time.Time `json:"until,omitzero"` // when Previous ends
}

// At returns the secrets that sign at a time, the newest first.
func (s Secrets) At(now time.Time) []Secret {
	if s.Previous != "" && now.Before(s.Until) {
		return []Secret{s.Current, s.Previous}
	}
	return []Secret{s.Current}
}

// Rotate puts another secret in front; an empty one is made. The old one signs
// beside it for the overlap, 0 to 30 days. Of two rotations in that time the
// oldest secret ends at once.
func (s Secrets) Rotate(next Secret, overlap time.Duration, now time.Time) (Secrets, error) {
	if next == "" {
		next = NewSecret()
	}
	if err := next.check(); err != nil {
		return s, err
	}
	switch {
	case overlap < 0 || overlap > MaxOverlap:
		return s, invalid("overlap", "is %v: want 0s to %v", overlap, MaxOverlap)
	case next == s.Current:
		return s, invalid("secret", "is the one in use: choose a new one")
	}
	out := Secrets{Current: next}
	if overlap > 0 {
		out.Previous, out.Until = s.Current, now.Add(overlap).UTC().Truncate(time.Millisecond)
	}
	return out, nil
}
