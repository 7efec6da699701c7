package agent

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oklog/ulid/v2"

	"roomgate/store"
)

const (
	// systemKeyID is the key that the environment or the first start made.
	systemKeyID = "system"
	// maxKeys bounds the keys that are remembered, revoked ones included.
	maxKeys = 1000
	// keepUse is how often the last use of a key is written down.
	keepUse = time.Hour
	// secretPrefix begins every secret that we make.
	secretPrefix = "rgsys_"
)

// Key is an API key without its secret.
type Key struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Prefix   string    `json:"prefix"` // the first characters, to recognize it by
	Created  time.Time `json:"created_at"`
	Expires  time.Time `json:"expires_at,omitzero"`
	LastUsed time.Time `json:"last_used_at,omitzero"`
	Revoked  bool      `json:"revoked"`
}

// keyring holds the keys in memory, so that checking one costs a hash and a
// look-up. It is replaced whole, never changed.
type keyring struct {
	byHash map[[sha256.Size]byte]*heldKey
	byID   map[string]*heldKey
}

type heldKey struct {
	storedKey
	used atomic.Int64 // unix seconds
}

// keys is the ring and the one who changes it.
type keys struct {
	ring   atomic.Pointer[keyring]
	change sync.Mutex
}

// Authenticate says whose secret this is. It takes the same time for a wrong
// secret as for a right one: the look-up is by the hash of 256 bits, which
// tells nothing about the secret.
func (a *Agent) Authenticate(secret string) (Key, bool) {
	held := a.keys.ring.Load().byHash[sha256.Sum256([]byte(secret))]
	if held == nil || !a.good(held) {
		return Key{}, false
	}
	if seconds := time.Now().Unix(); held.used.Load() != seconds {
		held.used.Store(seconds)
	}
	return held.Key, true
}

// Revoked says whether a key that was good has been revoked or has expired
// since, for those who answer one request for a long time.
func (a *Agent) Revoked(id string) bool {
	held := a.keys.ring.Load().byID[id]
	return held == nil || !a.good(held)
}

// good judges a key that exists. An expiry holds only by a trusted clock.
func (a *Agent) good(k *heldKey) bool {
	expired := !k.Expires.IsZero() && a.clock.Trust() == Trusted && time.Now().After(k.Expires)
	return !k.Revoked && !expired
}

// Keys returns every key, oldest first.
func (a *Agent) Keys() []Key {
	var all []Key
	for _, held := range a.keys.ring.Load().byID {
		k := held.Key
		if used := held.used.Load(); used > 0 {
			k.LastUsed = time.Unix(used, 0).UTC()
		}
		all = append(all, k)
	}
	slices.SortFunc(all, func(x, y Key) int { return x.Created.Compare(y.Created) })
	return all
}

// CreateKey makes a key. The secret is returned once and stored hashed only.
// A zero expires means never.
func (a *Agent) CreateKey(ctx context.Context, name string, expires time.Time) (Key, string, error) {
	name = strings.TrimSpace(name)
	switch {
	case name == "" || len(name) > 100:
		return Key{}, "", refuse(Invalid, "name", "must have 1 to 100 characters")
	case !expires.IsZero() && !expires.After(time.Now()):
		return Key{}, "", refuse(Invalid, "expires_at", "is in the past")
	}
	secret := newSecret()
	k, err := a.putKey(ctx, ulid.Make().String(), name, secret, expires)
	return k, secret, err
}

// RevokeKey ends a key at once, also for requests under way.
func (a *Agent) RevokeKey(ctx context.Context, id string) error {
	a.keys.change.Lock()
	defer a.keys.change.Unlock()
	held := a.keys.ring.Load().byID[id]
	if held == nil {
		return refuse(NotFound, "id", "is not a key of this gateway")
	}
	s := held.storedKey
	s.Revoked = true
	return a.replaceKey(ctx, s)
}

func (a *Agent) putKey(ctx context.Context, id, name, secret string, expires time.Time) (Key, error) {
	a.keys.change.Lock()
	defer a.keys.change.Unlock()
	if len(a.keys.ring.Load().byID) >= maxKeys {
		return Key{}, refuse(Full, "", "there are %d keys, the most that a gateway keeps", maxKeys)
	}
	hash := sha256.Sum256([]byte(secret))
	k := Key{ID: id, Name: name, Prefix: prefix(secret), Created: time.Now().UTC(), Expires: expires.UTC()}
	if expires.IsZero() {
		k.Expires = time.Time{}
	}
	return k, a.replaceKey(ctx, storedKey{k, hash[:]})
}

// replaceKey stores a key and then lets it take effect.
func (a *Agent) replaceKey(ctx context.Context, s storedKey) error {
	if err := a.db.Update(ctx, func(tx *store.Tx) error { return apiKeys.Put(tx, s.ID, s) }); err != nil {
		return err
	}
	byID := maps.Clone(a.keys.ring.Load().byID)
	byID[s.ID] = hold(s)
	a.keys.ring.Store(newKeyring(byID))
	return nil
}

// prefix is what a key is recognized by: nothing of a secret that somebody
// made up, a little of one that has random bits to spare.
func prefix(secret string) string {
	if !strings.HasPrefix(secret, secretPrefix) {
		return ""
	}
	return secret[:len(secretPrefix)+4]
}

func hold(s storedKey) *heldKey {
	held := &heldKey{storedKey: s}
	if !s.LastUsed.IsZero() {
		held.used.Store(s.LastUsed.Unix())
	}
	return held
}

func newKeyring(byID map[string]*heldKey) *keyring {
	r := &keyring{byHash: map[[sha256.Size]byte]*heldKey{}, byID: byID}
	for _, held := range byID {
		r.byHash[[sha256.Size]byte(held.Hash)] = held
	}
	return r
}

// loadKeys reads the keys. Where there is no system key yet, it takes the one
// given, or makes one that NewKey returns. A given key replaces an older one.
func (a *Agent) loadKeys(ctx context.Context, given string) error {
	byID := map[string]*heldKey{}
	err := a.db.View(func(tx *store.Tx) error {
		for id, s := range apiKeys.All(tx) {
			byID[id] = hold(s)
		}
		return nil
	})
	if err != nil {
		return err
	}
	a.keys.ring.Store(newKeyring(byID))
	_, exists := byID[systemKeyID]
	if given == "" && exists {
		return nil
	}
	if _, good := a.Authenticate(given); given != "" && good {
		return nil
	}
	if given == "" {
		given = newSecret()
		a.newKey = given
	}
	_, err = a.putKey(ctx, systemKeyID, "system key", given, time.Time{})
	return err
}

// NewKey is the system key that Open had to make; empty if there was one. It
// is to be shown once.
func (a *Agent) NewKey() string { return a.newKey }

// keepLastUse writes down when keys were last used, now and then.
func (a *Agent) keepLastUse(ctx context.Context) error {
	for ctx.Err() == nil {
		sleep(ctx, keepUse)
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
		err := a.storeLastUse(last)
		cancel()
		if err != nil && !errors.Is(err, context.Canceled) {
			a.log.Warn("the last use of keys cannot be stored", "error", err)
		}
	}
	return nil
}

func (a *Agent) storeLastUse(ctx context.Context) error {
	a.keys.change.Lock()
	defer a.keys.change.Unlock()
	return a.db.Update(ctx, func(tx *store.Tx) error {
		for id, held := range a.keys.ring.Load().byID {
			used := time.Unix(held.used.Load(), 0).UTC()
			if held.used.Load() == 0 || used.Equal(held.LastUsed) {
				continue
			}
			s := held.storedKey
			s.LastUsed = used
			if err := apiKeys.Put(tx, id, s); err != nil {
				return err
			}
		}
		return nil
	})
}

// newSecret makes a key of 256 random bits, with a prefix that scanners find
// and a checksum that tells a typing error from a wrong key.
func newSecret() string {
	random := make([]byte, 32)
	_, _ = rand.Read(random) // never fails (crypto/rand)
	body := strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(random))
	return fmt.Sprintf(secretPrefix+"%s_%08x", body, crc32.ChecksumIEEE([]byte(body)))
}
