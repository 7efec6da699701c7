package cloud

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"strings"
)

const (
	// codeSize is the length of a code: 80 random bits, so that who has recorded
	// what was sealed with one does not find it by trying.
	codeSize = 16
	// codeLetters has 32 that are not taken for each other.
	codeLetters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	// codeGroup is how many of them stand together when people read it.
	codeGroup = 4
)

// ErrCode says that something was sealed with another code, or for another
// topic, or not at all.
var ErrCode = errors.New("the code does not fit")

// NewCode makes a code that a person carries from a gateway to its cloud:
// XXXX-XXXX-XXXX-XXXX.
func NewCode() string {
	random := make([]byte, codeSize)
	_, _ = rand.Read(random) // never fails (crypto/rand)
	var code strings.Builder
	for i, b := range random {
		if i > 0 && i%codeGroup == 0 {
			code.WriteByte('-')
		}
		code.WriteByte(codeLetters[b%32])
	}
	return code.String()
}

// ReadCode is a code as it was made, out of what somebody typed: what cannot
// be mistaken is taken as it is meant. It is false for what is no code.
func ReadCode(typed string) (code string, ok bool) {
	if len(typed) > 4*codeSize {
		return "", false
	}
	code = strings.NewReplacer(" ", "", "-", "", "O", "0", "I", "1", "L", "1", "U", "V").Replace(strings.ToUpper(typed))
	for _, r := range code {
		ok = strings.ContainsRune(codeLetters, r)
		if !ok {
			return "", false
		}
	}
	return code, len(code) == codeSize
}

// Seal encrypts what only who has the code may read, for one topic: AES-256-GCM
// behind its nonce of 12 bytes, the topic as additional data. The key is
// HKDF-SHA256 of the code's 16 characters, without salt, with the info "roomgate
// claim".
func Seal(code, topic string, text []byte) ([]byte, error) {
	box, err := codeBox(code)
	if err != nil {
		return nil, err
	}
	return box.Seal(nil, nil, text, []byte(topic)), nil
}

// Unseal is what Seal was given, or ErrCode.
func Unseal(code, topic string, sealed []byte) ([]byte, error) {
	box, err := codeBox(code)
	if err != nil {
		return nil, err
	}
	text, err := box.Open(nil, nil, sealed, []byte(topic))
	if err != nil {
		return nil, ErrCode
	}
	return text, nil
}

func codeBox(typed string) (cipher.AEAD, error) {
	code, ok := ReadCode(typed)
	if !ok {
		return nil, ErrCode
	}
	return boxOf([]byte(code), "roomgate claim")
}

// boxOf seals under a key that is made of a secret for one purpose.
func boxOf(secret []byte, purpose string) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, secret, nil, purpose, sha256.Size)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}
