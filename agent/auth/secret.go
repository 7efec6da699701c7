package auth

import (
	"crypto/rand"
	"encoding/base32"
	"fmt"
	"hash/crc32"
	"strings"
)

// Prefixes of the secrets of API keys, by which people and scanners know them.
const (
	SystemPrefix       = "rgsys_"
	OrganizationPrefix = "rgorg_"
	EdgePrefix         = "rgedge_"
)

var prefixes = []string{SystemPrefix, OrganizationPrefix, EdgePrefix}

// shownOfSecret is how much of a secret behind its prefix is kept to recognize
// it by.
const shownOfSecret = 4

var secretText = base32.StdEncoding.WithPadding(base32.NoPadding)

// NewAPISecret makes the secret of an API key: a prefix, 256 random bits, and a
// checksum that tells a typing error from a wrong key.
func NewAPISecret(prefix string) string {
	random := make([]byte, 32)
	_, _ = rand.Read(random) // never fails (crypto/rand)
	body := strings.ToLower(secretText.EncodeToString(random))
	return fmt.Sprintf("%s%s_%08x", prefix, body, crc32.ChecksumIEEE([]byte(body)))
}

// Mistyped says whether a secret is one of ours of which something was lost or
// changed. Of one that somebody made up nothing can be said.
func Mistyped(secret string) bool {
	for _, prefix := range prefixes {
		if body, ours := strings.CutPrefix(secret, prefix); ours {
			body, sum, _ := strings.Cut(body, "_")
			return sum != fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(body)))
		}
	}
	return false
}

// ShownPrefix is what a secret is recognized by: nothing of one that somebody
// made up, a little of one that has random bits to spare.
func ShownPrefix(secret string) string {
	for _, prefix := range prefixes {
		if n := len(prefix) + shownOfSecret; strings.HasPrefix(secret, prefix) && len(secret) > 4*n {
			return secret[:n]
		}
	}
	return ""
}
