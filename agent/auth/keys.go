package auth

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
)

// SecretSize is the size of the device secret in bytes.
const SecretSize = 32

// Keys are what is made of the device secret: one key for each purpose (RFC
// 5869). The secret is kept outside of the database, so that a copy of the
// database alone shows no address and no one-time password.
type Keys struct {
	secret, account, code []byte
	seal                  cipher.AEAD
}

// NewKeys derives the keys. The secret has SecretSize random bytes.
func NewKeys(secret []byte) (*Keys, error) {
	if len(secret) != SecretSize {
		return nil, errors.New("the device secret has the wrong size")
	}
	k := &Keys{secret: secret, account: derive(secret, "account"), code: derive(secret, "code")}
	block, err := aes.NewCipher(derive(secret, "seal"))
	if err != nil {
		return nil, err
	}
	k.seal, err = cipher.NewGCMWithRandomNonce(block)
	return k, err
}

// derive makes the key for a purpose.
func derive(secret []byte, purpose string) []byte {
	key, err := hkdf.Key(sha256.New, secret, nil, "roomgate "+purpose, sha256.Size)
	if err != nil { // only of a key that is too long
		panic(err)
	}
	return key
}

// Account names an address without telling it.
func (k *Keys) Account(email string) string { return hex.EncodeToString(mac(k.account, email)[:16]) }

// Hash is what is kept of a one-time password of an account.
func (k *Keys) Hash(account, code string) []byte { return mac(k.code, account, code) }

// Seal encrypts what only the gateway may read, bound to the place where it is
// kept.
func (k *Keys) Seal(place string, text []byte) []byte {
	return k.seal.Seal(nil, nil, text, []byte(place))
}

// Open decrypts what Seal made.
func (k *Keys) Open(place string, sealed []byte) ([]byte, error) {
	return k.seal.Open(nil, nil, sealed, []byte(place))
}

// mac is HMAC-SHA256 over parts, none of which has a zero byte.
func mac(key []byte, parts ...string) []byte {
	h := hmac.New(sha256.New, key)
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return h.Sum(nil)
}

// NewSecret makes a device secret.
func NewSecret() []byte {
	secret := make([]byte, SecretSize)
	_, _ = rand.Read(secret) // never fails (crypto/rand)
	return secret
}

// Stamp marks what a subject is now, so that what was issued to it before a
// change can be told from what is issued after.
func (k *Keys) Stamp(generation uint64, what string) string {
	sum := mac(k.account, "stamp", what)
	return strconv.FormatUint(generation, 10) + "." + secretText.EncodeToString(sum[:5])
}

// SameStamp compares two stamps.
func SameStamp(a, b string) bool { return hmac.Equal([]byte(a), []byte(b)) }
