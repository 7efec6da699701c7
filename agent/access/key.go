package access

import (
	"context"
	"crypto/sha256"
	"maps"
	"time"

	"github.com/oklog/ulid/v2"

	"roomgate/agent/auth"
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

// Keys returns the keys that may do everything, oldest first.
func (d *Directory) Keys() []Key { return d.keyring.of(Key.system) }

// CreateKey makes a key that may do everything. The secret is returned once and
// stored hashed only. A zero expires means never.
func (d *Directory) CreateKey(ctx context.Context, name string, expires time.Time) (Key, string, error) {
	name, err := keyName(name, expires)
	if err != nil {
		return Key{}, "", err
	}
	secret := auth.NewAPISecret(auth.SystemPrefix)
	k, err := d.keyring.put(ctx, Key{ID: ulid.Make().String(), Name: name, Expires: expires}, secret)
	return k, secret, err
}

// RevokeKey ends a key at once, also for requests under way.
func (d *Directory) RevokeKey(ctx context.Context, id string) error {
	d.keyring.turn.Lock()
	defer d.keyring.turn.Unlock()
	held := d.keyring.held().byID[id]
	if held == nil {
		return problem.New(problem.NotFound, "id", "is not a key of this gateway")
	}
	s := held.row()
	s.Revoked = true
	if err := d.keyring.replace(ctx, s, ""); err != nil {
		return err
	}
	d.changed.Wake()
	return nil
}

// NewKey is the system key that Open had to make; empty if there was one. It
// is to be shown once, and then KeyShown says so.
func (d *Directory) NewKey() string { return d.keyring.made }

// KeyShown stores that the new system key was shown. Until then each Open makes another
// one: a power cut between the two would leave a key that nobody has seen.
func (d *Directory) KeyShown(ctx context.Context) error {
	r := &d.keyring
	r.turn.Lock()
	defer r.turn.Unlock()
	held := r.held().byID[systemKeyID]
	if held == nil || !held.Unshown {
		return nil
	}
	s := held.row()
	s.Unshown = false
	if err := r.db.Update(ctx, func(tx *store.Tx) error { return keyRows.Put(tx, s.ID, s) }); err != nil {
		return err
	}
	byID := maps.Clone(r.held().byID)
	byID[s.ID] = hold(s)
	r.now.Store(newHeldKeys(byID))
	return nil
}

// RenewSystemKey puts a new system key into the database of a backup and returns
// its secret.
func RenewSystemKey(tx *store.Tx) (secret string, err error) {
	secret = auth.NewAPISecret(auth.SystemPrefix)
	hash := sha256.Sum256([]byte(secret))
	k := Key{ID: systemKeyID, Name: "system key", Prefix: auth.ShownPrefix(secret), Created: time.Now().UTC()}
	return secret, keyRows.Put(tx, k.ID, storedKey{Key: k, Hash: hash[:]})
}
