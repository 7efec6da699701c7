package access

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	"roomgate/agent/problem"
	"roomgate/store"
)

// keepUse is how often the last use of a key is written down.
const keepUse = time.Hour

// keyring has the keys, in memory and in the store.
type keyring struct {
	db     *store.DB
	moment func() auth.Moment
	log    *slog.Logger
	made   string // the system key that load made

	turn sync.Mutex // of who changes the keys
	now  atomic.Pointer[heldKeys]
}

func (r *keyring) held() *heldKeys { return r.now.Load() }

// heldKeys are the keys in memory, so that checking one costs a hash and a
// look-up. They are replaced whole, never changed.
type heldKeys struct {
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

// load reads the keys. Where there is no system key yet, or nobody was shown it, it takes
// the one given, or makes one. A given key replaces an older one.
func (r *keyring) load(ctx context.Context, given string) error {
	byID := map[string]*heldKey{}
	err := r.db.View(func(tx *store.Tx) error {
		for id, s := range keyRows.All(tx) {
			byID[id] = hold(s)
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.now.Store(newHeldKeys(byID))
	held := byID[systemKeyID]
	unshown := held != nil && held.Unshown && !held.Revoked && held.LastUsed.IsZero()
	if given == "" && held != nil && !unshown {
		return nil
	}
	if known := r.by(given); given != "" && known != nil && known.system() {
		return nil
	}
	system := storedKey{Key: Key{ID: systemKeyID, Name: "system key"}}
	if given == "" {
		given = auth.NewAPISecret(auth.SystemPrefix)
		r.made, system.Unshown = given, true
	}
	if unshown {
		r.log.Warn("a start was interrupted before it could show the system key that it made: another one takes its place")
	}
	_, err = r.putRow(ctx, system, given)
	if errors.Is(err, store.ErrFailed) {
		r.log.Error("the system key cannot be stored, those that are stored go on: see roomgate doctor", "error", err)
		r.made = ""
		return nil
	}
	return err
}

// by is the good key with that secret, or nil. The look-up is by the hash
// of 256 bits, which tells nothing about the secret.
func (r *keyring) by(secret string) *heldKey {
	held := r.held().byHash[sha256.Sum256([]byte(secret))]
	if held == nil || !r.good(held) {
		return nil
	}
	held.touch()
	return held
}

// good judges a key that exists. An expiry holds only by a trusted clock.
func (r *keyring) good(k *heldKey) bool {
	expired := !k.Expires.IsZero() && time.Now().After(k.Expires) && r.moment().Trusted
	return !k.Revoked && !expired
}

// of returns some of the keys, oldest first.
func (r *keyring) of(which func(Key) bool) []Key {
	all := []Key{}
	for _, held := range r.held().byID {
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

// put stores a new key, or another secret of one.
func (r *keyring) put(ctx context.Context, k Key, secret string) (Key, error) {
	return r.putRow(ctx, storedKey{Key: k}, secret)
}

func (r *keyring) putRow(ctx context.Context, s storedKey, secret string) (Key, error) {
	r.turn.Lock()
	defer r.turn.Unlock()
	forget, err := r.held().place(s.Key)
	if err != nil {
		return Key{}, err
	}
	hash := sha256.Sum256([]byte(secret))
	s.Prefix, s.Created, s.Expires = auth.ShownPrefix(secret), time.Now().UTC().Truncate(time.Millisecond), s.Expires.UTC().Truncate(time.Millisecond)
	s.Hash = hash[:]
	return s.Key, r.replace(ctx, s, forget)
}

// replace stores a key, forgets another one if it is named, and then lets
// both take effect.
func (r *keyring) replace(ctx context.Context, s storedKey, forget string) error {
	err := r.db.Update(ctx, func(tx *store.Tx) error {
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
	byID := maps.Clone(r.held().byID)
	delete(byID, forget)
	byID[s.ID] = hold(s)
	r.now.Store(newHeldKeys(byID))
	return nil
}

// keepLastUse writes down when keys were last used, now and then.
func (r *keyring) keepLastUse(ctx context.Context) error {
	for ctx.Err() == nil {
		loop.Sleep(ctx, keepUse)
		last, cancel := loop.Last(ctx)
		err := r.storeLastUse(last)
		cancel()
		if err != nil && !errors.Is(err, context.Canceled) {
			r.log.Warn("cannot store when keys were last used", "error", err)
		}
	}
	return nil
}

func (r *keyring) storeLastUse(ctx context.Context) error {
	r.turn.Lock()
	defer r.turn.Unlock()
	used := map[*heldKey]storedKey{}
	for _, held := range r.held().byID {
		if held.used.Load() != held.noted {
			used[held] = held.row()
		}
	}
	if len(used) == 0 {
		return nil
	}
	err := r.db.Update(ctx, func(tx *store.Tx) error {
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

// place makes room for a key: forget is the id of the revoked one that goes for it,
// empty if none has to. Full: there is none.
func (r *heldKeys) place(k Key) (forget string, err error) {
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

func (r *heldKeys) count(of func(*heldKey) bool) (n int) {
	for _, held := range r.byID {
		if of(held) {
			n++
		}
	}
	return n
}

// oldestRevoked is the id of the revoked key that is forgotten first of some, or empty.
func (r *heldKeys) oldestRevoked(of func(*heldKey) bool) (id string) {
	for _, held := range r.byID {
		if held.Key.Revoked && of(held) && (id == "" || held.Created.Before(r.byID[id].Created)) {
			id = held.ID
		}
	}
	return id
}

func hold(s storedKey) *heldKey {
	held := &heldKey{storedKey: s}
	if !s.LastUsed.IsZero() {
		held.noted = s.LastUsed.Unix()
		held.used.Store(held.noted)
	}
	return held
}

func newHeldKeys(byID map[string]*heldKey) *heldKeys {
	r := &heldKeys{byHash: map[[sha256.Size]byte]*heldKey{}, byID: byID}
	for _, held := range byID {
		r.byHash[[sha256.Size]byte(held.Hash)] = held
	}
	return r
}
