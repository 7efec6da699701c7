package auth

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
)

// ParsePublicKey reads the key by which signed releases are known: the base64 of
// 32 bytes, as roomgate update keygen shows it.
func ParsePublicKey(text string) (ed25519.PublicKey, error) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw) != ed25519.PublicKeySize {
		return nil, errors.New("is no public key: want the 44 characters that roomgate update keygen shows")
	}
	return raw, nil
}
