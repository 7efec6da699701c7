package update

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"roomgate/agent/atomicfile"
	"roomgate/agent/auth"
)

// ParseKeys reads public keys, those in one text separated by commas.
func ParseKeys(texts ...string) (keys []ed25519.PublicKey, err error) {
	for _, t := range texts {
		for one := range strings.SplitSeq(t, ",") {
			if one = strings.TrimSpace(one); one == "" {
				continue
			}
			key, err := auth.ParsePublicKey(one)
			if err != nil {
				return nil, fmt.Errorf("%q %w", one, err)
			}
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// NewKey makes a key to sign bundles with, writes its secret half to a file that
// must not be there yet, and returns the public half.
func NewKey(path string) (public string, err error) {
	pub, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("%s is there already and may be a key that is in use: choose another name", path)
	} else if err != nil {
		return "", err
	}
	_, err = f.WriteString(base64.StdEncoding.EncodeToString(private.Seed()) + "\n")
	return base64.StdEncoding.EncodeToString(pub), errors.Join(err, f.Sync(), f.Close())
}

// ReadKey reads the secret half from the file that NewKey wrote.
func ReadKey(path string) (ed25519.PrivateKey, error) {
	text, err := atomicfile.Read(path, os.O_RDONLY, 4<<10)
	if err != nil {
		return nil, err
	}
	seed, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("%s holds no key: make one with roomgate update keygen", path)
	}
	return ed25519.NewKeyFromSeed(seed), nil
}
