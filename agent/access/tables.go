package access

import (
	"roomgate/agent/auth"
	"roomgate/store"
)

var (
	// keyRows holds the API keys by id, hashed.
	keyRows = store.NewTable[storedKey]("api-keys")
	// organizations holds them by id.
	organizations = store.NewTable[Organization]("organizations")
	// userMarks holds what was decided here about users, by id.
	userMarks = store.NewTable[storedUser]("users")
	// accounts holds how the addresses that somebody typed stand with their
	// one-time passwords, alone and with each network that asked, by a keyed hash.
	accounts = store.NewTable[auth.Account]("accounts")
	// signingRows holds the ids of the keys that sign tokens, newest last.
	signingRows = store.NewTable[[]storedSigningKey]("signing-keys")
	// endedRows holds when sessions were ended that had not expired, by the id of the token.
	endedRows = store.NewTable[auth.Moment]("ended-sessions")
)

// Buckets are the places of this package in the database.
func Buckets() []string {
	return []string{KeyBucket(), organizations.Bucket(), UserBucket(), accounts.Bucket(), signingRows.Bucket(), endedRows.Bucket()}
}

// KeyBucket is where the API keys are.
func KeyBucket() string { return keyRows.Bucket() }

// UserBucket has what was changed about users at run time.
func UserBucket() string { return userMarks.Bucket() }

// SecretBuckets are the tables whose rows are shown to nobody.
func SecretBuckets() []string { return []string{accounts.Bucket(), signingRows.Bucket()} }

// storedKey is a key with the hash of its secret.
type storedKey struct {
	Key
	Hash []byte `json:"hash"` // SHA-256 of the secret, which has 256 random bits
	// Unshown says of the system key that a first start made it and has not shown it yet.
	Unshown bool `json:"unshown,omitempty"`
}

// storedUser is what was decided here about a user.
type storedUser struct {
	Disabled   bool        `json:"disabled,omitempty"`
	Generation uint64      `json:"generation,omitempty"` // raised to end his tokens
	Made       *madePerson `json:"made,omitempty"`       // nil: the configuration names him
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
	for id, m := range userMarks.All(tx) {
		words = append(words, id)
		if m.Made != nil {
			words = append(words, m.Made.Email, m.Made.Name)
		}
	}
	return words
}

// EndTokens ends every token that was issued, in the database of a backup.
func EndTokens(tx *store.Tx) error { return signingRows.Delete(tx, signingRing) }
