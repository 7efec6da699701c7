package access

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/oklog/ulid/v2"

	"roomgate/agent/auth"
	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	"roomgate/agent/problem"
	"roomgate/store"
)

const (
	// systemKeyID is the key that the environment or the first start made.
	systemKeyID = "system"
	// maxKeys bounds the keys that are remembered, revoked ones included, and
	// maxKeysOfOrg those of one organization, so that one tenant does not take the
	// places of the others.
	maxKeys      = 1000
	maxKeysOfOrg = 250
	// keepUse is how often the last use of a key is written down.
	keepUse = time.Hour
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

	// Kind is KindOrganization, or empty: a key of the building, which may do
	// everything.
	Kind           string   `json:"kind,omitempty"`
	OrganizationID string   `json:"organization_id,omitempty"`
	Permissions    auth.Set `json:"permissions,omitempty"`
}

// system says whether the key may do everything. Anything that bounds it does.
func (k Key) system() bool { return k.Kind == "" && k.OrganizationID == "" && k.Permissions == 0 }

// keyring holds the keys in memory, so that checking one costs a hash and a
// look-up. It is replaced whole, never changed.
type keyring struct {
	byHash map[[sha256.Size]byte]*heldKey
	byID   map[string]*heldKey
}

type heldKey struct {
	storedKey              // as it was loaded: used is newer than its LastUsed
	used      atomic.Int64 // unix seconds
	noted     int64        // the used that is stored; who has the turn of the keys asks for it
}

// row is the key to be stored, with its last use as it is now.
func (k *heldKey) row() storedKey {
	s := k.storedKey
	s.LastUsed = k.lastUsed()
	return s
}

// heldBy is the good key with that secret, or nil. The look-up is by the hash
// of 256 bits, which tells nothing about the secret.
func (d *Directory) heldBy(secret string) *heldKey {
	held := d.keyring.Load().byHash[sha256.Sum256([]byte(secret))]
	if held == nil || !d.good(held) {
		return nil
	}
	held.touch()
	return held
}

// touch notes that a key was used.
func (k *heldKey) touch() {
	if seconds := time.Now().Unix(); k.used.Load() != seconds {
		k.used.Store(seconds)
	}
}

// lastUsed is when the key was used last; zero: never.
func (k *heldKey) lastUsed() time.Time {
	if used := k.used.Load(); used > 0 {
		return time.Unix(used, 0).UTC()
	}
	return time.Time{}
}

// holds says whether there is a good key with that id.
func (d *Directory) holds(id string) bool {
	held := d.keyring.Load().byID[id]
	return held != nil && d.good(held)
}

// good judges a key that exists. An expiry holds only by a trusted clock.
func (d *Directory) good(k *heldKey) bool {
	expired := !k.Expires.IsZero() && time.Now().After(k.Expires) && d.moment().Trusted
	return !k.Revoked && !expired
}

// Keys returns the keys that may do everything, oldest first.
func (d *Directory) Keys() []Key { return d.keysOf(Key.system) }

func (d *Directory) keysOf(which func(Key) bool) []Key {
	all := []Key{}
	for _, held := range d.keyring.Load().byID {
		k := held.Key
		k.Created = k.Created.Truncate(time.Millisecond) // earlier versions kept nanoseconds
		k.LastUsed = held.lastUsed()
		if which(k) {
			all = append(all, k)
		}
	}
	slices.SortFunc(all, func(x, y Key) int { return cmp.Or(x.Created.Compare(y.Created), cmp.Compare(x.ID, y.ID)) })
	return all
}

// CreateKey makes a key that may do everything. The secret is returned once and
// stored hashed only. A zero expires means never.
func (d *Directory) CreateKey(ctx context.Context, name string, expires time.Time) (Key, string, error) {
	name, err := keyName(name, expires)
	if err != nil {
		return Key{}, "", err
	}
	secret := auth.NewAPISecret(auth.SystemPrefix)
	k, err := d.putKey(ctx, Key{ID: ulid.Make().String(), Name: name, Expires: expires}, secret)
	return k, secret, err
}

// RevokeKey ends a key at once, also for requests under way.
func (d *Directory) RevokeKey(ctx context.Context, id string) error {
	d.keyTurn.Lock()
	defer d.keyTurn.Unlock()
	held := d.keyring.Load().byID[id]
	if held == nil {
		return problem.New(problem.NotFound, "id", "is not a key of this gateway")
	}
	s := held.row()
	s.Revoked = true
	if err := d.replaceKey(ctx, s, ""); err != nil {
		return err
	}
	d.changed.Wake()
	return nil
}

func (d *Directory) putKey(ctx context.Context, k Key, secret string) (Key, error) {
	d.keyTurn.Lock()
	defer d.keyTurn.Unlock()
	forget, err := d.keyring.Load().place(k)
	if err != nil {
		return Key{}, err
	}
	hash := sha256.Sum256([]byte(secret))
	k.Prefix, k.Created, k.Expires = auth.ShownPrefix(secret), time.Now().UTC().Truncate(time.Millisecond), k.Expires.UTC().Truncate(time.Millisecond)
	return k, d.replaceKey(ctx, storedKey{k, hash[:]}, forget)
}

// place makes room for a key: forget is the id of the revoked one that goes for it,
// empty if none has to. Full: there is none.
func (r *keyring) place(k Key) (forget string, err error) {
	own := func(held *heldKey) bool { return held.OrganizationID == k.OrganizationID }
	anybodys := func(*heldKey) bool { return true }
	switch {
	case r.byID[k.ID] != nil:
	case k.OrganizationID != "" && r.count(own) >= maxKeysOfOrg:
		if forget = r.oldestRevoked(own); forget == "" {
			err = problem.New(problem.Full, "organization_id", "has %d keys, the most of an organization: revoke one", maxKeysOfOrg)
		}
	case len(r.byID) >= maxKeys:
		if forget = r.oldestRevoked(anybodys); forget == "" {
			err = problem.New(problem.Full, "", "there are %d keys, the most that a gateway keeps: revoke one", maxKeys)
		}
	}
	return forget, err
}

func (r *keyring) count(of func(*heldKey) bool) (n int) {
	for _, held := range r.byID {
		if of(held) {
			n++
		}
	}
	return n
}

// oldestRevoked is the id of the revoked key that is forgotten first of some, or empty.
func (r *keyring) oldestRevoked(of func(*heldKey) bool) (id string) {
	for _, held := range r.byID {
		if held.Key.Revoked && of(held) && (id == "" || held.Created.Before(r.byID[id].Created)) {
			id = held.ID
		}
	}
	return id
}

// replaceKey stores a key, forgets another one if it is named, and then lets
// both take effect.
func (d *Directory) replaceKey(ctx context.Context, s storedKey, forget string) error {
	err := d.db.Update(ctx, func(tx *store.Tx) error {
		if forget != "" {
			if err := keyRows.Delete(tx, forget); err != nil {
				return err
			}
		}
		if s.OrganizationID != "" && !s.Revoked {
			if _, err := organizationIn(tx, s.OrganizationID); err != nil {
				return err // it was removed just now
			}
		}
		return errors.Join(keyRows.Put(tx, s.ID, s), eventlog.Audit(ctx, tx, map[string]any{"key_id": s.ID, "name": s.Name}))
	})
	if err != nil {
		return err
	}
	byID := maps.Clone(d.keyring.Load().byID)
	delete(byID, forget)
	byID[s.ID] = hold(s)
	d.keyring.Store(newKeyring(byID))
	return nil
}

func hold(s storedKey) *heldKey {
	held := &heldKey{storedKey: s}
	if !s.LastUsed.IsZero() {
		held.noted = s.LastUsed.Unix()
		held.used.Store(held.noted)
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
func (d *Directory) loadKeys(ctx context.Context, given string) error {
	byID := map[string]*heldKey{}
	err := d.db.View(func(tx *store.Tx) error {
		for id, s := range keyRows.All(tx) {
			byID[id] = hold(s)
		}
		return nil
	})
	if err != nil {
		return err
	}
	d.keyring.Store(newKeyring(byID))
	_, exists := byID[systemKeyID]
	if given == "" && exists {
		return nil
	}
	if held := d.heldBy(given); given != "" && held != nil && held.system() {
		return nil
	}
	if given == "" {
		given = auth.NewAPISecret(auth.SystemPrefix)
		d.newKey = given
	}
	_, err = d.putKey(ctx, Key{ID: systemKeyID, Name: "system key"}, given)
	if errors.Is(err, store.ErrFailed) {
		d.log.Error("the system key cannot be stored, those that are stored go on: see roomgate doctor", "error", err)
		d.newKey = ""
		return nil
	}
	return err
}

// NewKey is the system key that Open had to make; empty if there was one. It
// is to be shown once.
func (d *Directory) NewKey() string { return d.newKey }

// keepLastUse writes down when keys were last used, now and then.
func (d *Directory) keepLastUse(ctx context.Context) error {
	for ctx.Err() == nil {
		loop.Sleep(ctx, keepUse)
		last, cancel := loop.Last(ctx)
		err := d.storeLastUse(last)
		cancel()
		if err != nil && !errors.Is(err, context.Canceled) {
			d.log.Warn("cannot store when keys were last used", "error", err)
		}
	}
	return nil
}

func (d *Directory) storeLastUse(ctx context.Context) error {
	d.keyTurn.Lock()
	defer d.keyTurn.Unlock()
	used := map[*heldKey]storedKey{}
	for _, held := range d.keyring.Load().byID {
		if held.used.Load() != held.noted {
			used[held] = held.row()
		}
	}
	if len(used) == 0 {
		return nil
	}
	err := d.db.Update(ctx, func(tx *store.Tx) error {
		for _, s := range used {
			if err := keyRows.Put(tx, s.ID, s); err != nil {
				return err
			}
		}
		return nil
	})
	for held, s := range used {
		if err == nil {
			held.noted = s.LastUsed.Unix()
		}
	}
	return err
}

// RenewSystemKey puts a new system key into the database of a backup and returns
// its secret.
func RenewSystemKey(tx *store.Tx) (secret string, err error) {
	secret = auth.NewAPISecret(auth.SystemPrefix)
	hash := sha256.Sum256([]byte(secret))
	k := Key{ID: systemKeyID, Name: "system key", Prefix: auth.ShownPrefix(secret), Created: time.Now().UTC()}
	return secret, keyRows.Put(tx, k.ID, storedKey{k, hash[:]})
}
