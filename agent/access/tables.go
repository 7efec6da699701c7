package access

import (
	"roomgate/agent/auth"
	"roomgate/store"
)

// The tables of this package, by their names in the store.
const (
	KeyTable          = "api-keys"      // the API keys by id, hashed
	OrganizationTable = "organizations" // by id
	UserTable         = "users"         // what was decided here about users, by id
	// AccountTable holds how the addresses that somebody typed stand with their
	// one-time passwords, by a keyed hash. At most maxAccounts; then others wait.
	AccountTable = "accounts"
	SigningTable = "signing-keys" // the ids of the keys that sign tokens, newest last
)

var (
	keyRows       = store.NewTable[storedKey](KeyTable)
	organizations = store.NewTable[Organization](OrganizationTable)
	userMarks     = store.NewTable[storedUser](UserTable)
	accounts      = store.NewTable[auth.Account](AccountTable)
	signingRows   = store.NewTable[[]storedSigningKey](SigningTable)
)

// storedKey is a key with the hash of its secret.
type storedKey struct {
	Key
	Hash []byte `json:"hash"` // SHA-256 of the secret, which has 256 random bits
}

// storedUser is what was decided here about a user.
type storedUser struct {
	Disabled   bool   `json:"disabled,omitempty"`
	Generation uint64 `json:"generation,omitempty"` // raised to end his tokens
}

// signingRing is the one row of signingRows.
const signingRing = "ring"

// storedSigningKey names a key that signs tokens.
type storedSigningKey struct {
	ID    string      `json:"id"`
	Since auth.Moment `json:"since"`
}

// Words are names of what was made at run time, which must not be in a support
// bundle.
func Words(tx *store.Tx) (words []string) {
	for _, o := range organizations.All(tx) {
		words = append(words, o.Name)
	}
	for _, k := range keyRows.All(tx) {
		words = append(words, k.Name)
	}
	for id := range userMarks.All(tx) {
		words = append(words, id)
	}
	return words
}

// EndTokens ends every token that was issued, in the database of a backup.
func EndTokens(tx *store.Tx) error { return signingRows.Delete(tx, signingRing) }
