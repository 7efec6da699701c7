package auth

import (
	"crypto/rand"
	"strings"
)

const (
	// typedSize is the length of a typed code: 40 random bits.
	typedSize = 8
	// typedLetters has 32 that are not taken for each other.
	typedLetters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
)

// NewTyped makes a code that somebody types once, as "7K3M-QX9D".
func NewTyped() string {
	random := make([]byte, typedSize)
	_, _ = rand.Read(random) // never fails (crypto/rand)
	for i, r := range random {
		random[i] = typedLetters[r%32]
	}
	return string(random[:typedSize/2]) + "-" + string(random[typedSize/2:])
}

// TypedText is what of such a code counts: what is typed wrongly but cannot be mistaken
// is taken as it is meant.
func TypedText(typed string) string {
	if len(typed) > 4*typedSize {
		return ""
	}
	return strings.NewReplacer(" ", "", "-", "", "O", "0", "I", "1", "L", "1", "U", "V").Replace(strings.ToUpper(typed))
}
