package broker

import (
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"hash/maphash"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A stored password is $pbkdf2-sha256$rounds$salt$key, RFC 8018.
const (
	hashPrefix = "$pbkdf2-sha256$"
	maxRounds  = 2_000_000
)

// parseHash is false for a plain password.
func parseHash(stored string) (rounds int, salt, key []byte, ok bool, err error) {
	tail, ok := strings.CutPrefix(stored, hashPrefix)
	if !ok {
		return 0, nil, nil, false, nil
	}
	parts := strings.Split(tail, "$")
	if len(parts) == 3 {
		rounds, err = strconv.Atoi(parts[0])
		salt, _ = base64.RawStdEncoding.DecodeString(parts[1])
		key, _ = base64.RawStdEncoding.DecodeString(parts[2])
	}
	if err != nil || rounds < 1 || rounds > maxRounds || len(salt) < 8 || len(key) != sha256.Size {
		return 0, nil, nil, true, errors.New("password hash cannot be read: make a new one")
	}
	return rounds, salt, key, true, nil
}

func checkHash(stored string) error {
	_, _, _, _, err := parseHash(stored)
	return err
}

// users are the passwords by name.
type users struct {
	stored map[string]string
	names  []string // in order
	seed   maphash.Seed
	later  func(name string) (password string, known bool) // of those who came since; nil: nobody does
}

func newUsers(stored map[string]string, later func(string) (string, bool)) users {
	return users{stored: stored, names: slices.Sorted(maps.Keys(stored)), seed: maphash.MakeSeed(), later: later}
}

// verify takes as long for a name that does not exist as for one that does.
func (u users) verify(name, password string) bool {
	stored, known := u.standIn(name)
	return u.matches(stored, password) && known
}

// standIn is the password to compare with: of a name that does not exist that of one
// of the users, always the same one. Passwords may differ in how long they take, and
// who tries a name again must not learn from a change that it is nobody's.
func (u users) standIn(name string) (stored string, known bool) {
	if stored, known = u.find(name); !known && len(u.names) > 0 {
		stored = u.stored[u.names[maphash.String(u.seed, name)%uint64(len(u.names))]]
	}
	return stored, known
}

// find is the password of a user.
func (u users) find(name string) (stored string, known bool) {
	if stored, known = u.stored[name]; !known && u.later != nil {
		stored, known = u.later(name)
	}
	return stored, known
}

func (u users) matches(stored, password string) bool {
	rounds, salt, key, hashed, err := parseHash(stored)
	if err != nil {
		return false
	}
	if !hashed {
		want, got := sha256.Sum256([]byte(stored)), sha256.Sum256([]byte(password))
		return subtle.ConstantTimeCompare(want[:], got[:]) == 1
	}
	got, err := pbkdf2.Key(sha256.New, password, salt, rounds, len(key))
	return err == nil && subtle.ConstantTimeCompare(got, key) == 1
}

// owns says whether a user, empty if anonymous, may have a client id: any that is
// not another user's name and does not begin with one and a slash.
func (u users) owns(user, id string) bool {
	owner, _, _ := strings.Cut(id, "/")
	_, taken := u.find(owner)
	return !taken || owner == user
}
