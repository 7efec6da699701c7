package access

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/config"
	"roomgate/agent/eventlog"
	"roomgate/agent/printable"
	"roomgate/agent/problem"
	"roomgate/store"
)

// KeySpec is an API key whose secret was made elsewhere, which says only its hash.
type KeySpec struct {
	ID             string    `json:"id"`
	Name           string    `json:"name"`
	Hash           string    `json:"hash"`   // SHA-256 of the secret, in hex
	Prefix         string    `json:"prefix"` // the secret's first characters, to recognize it by
	OrganizationID string    `json:"organization_id"`
	Permissions    []string  `json:"permissions"`
	Expires        time.Time `json:"expires_at"`
}

// StageKeys replaces the keys that somebody manages, with the ids mine, by those in
// want: keys that are in mine and not in want are revoked. It returns the new ids. The
// field of a refusal begins with the place in want, as [2].hash. A refusal needs no
// Release.
func (d *Directory) StageKeys(want []KeySpec, mine []string) (s eventlog.Stage, ids []string, err error) {
	d.keyring.turn.Lock()
	c := keyChange{byID: maps.Clone(d.keyring.held().byID), mine: mine}
	if err := c.check(want); err != nil {
		d.keyring.turn.Unlock()
		return s, nil, err
	}
	show := func() {
		d.keyring.now.Store(newHeldKeys(c.byID))
		d.changed.Wake()
	}
	return eventlog.Stage{Write: c.write, Show: show, Release: d.keyring.turn.Unlock}, c.ids, nil
}

// keyChange is a change of several keys that is checked and not yet made.
type keyChange struct {
	byID    map[string]*heldKey
	mine    []string
	ids     []string
	changed []storedKey
}

func (c *keyChange) check(want []KeySpec) error {
	for i, k := range want {
		if err := c.add(k); err != nil {
			return problem.At(i, err)
		}
	}
	for _, id := range c.mine {
		if old := c.byID[id]; old != nil && !old.Revoked && !slices.Contains(c.ids, id) {
			s := old.row()
			s.Revoked = true
			c.put(s)
		}
	}
	if len(c.byID) > maxKeys {
		return problem.New(problem.Invalid, "", "would make %d keys, the most that a gateway keeps is %d", len(c.byID), maxKeys)
	}
	return nil
}

func (c *keyChange) add(k KeySpec) *problem.Error {
	old := c.byID[k.ID]
	if old != nil && !slices.Contains(c.mine, k.ID) {
		return problem.New(problem.Conflict, "id", "is that of a key that was made in the building")
	}
	if slices.Contains(c.ids, k.ID) {
		return problem.New(problem.Invalid, "id", "is there twice")
	}
	s, err := k.stored(old, c.byID)
	if err != nil {
		return err
	}
	c.ids = append(c.ids, k.ID)
	c.put(s)
	return nil
}

func (c *keyChange) put(s storedKey) {
	c.byID[s.ID] = hold(s)
	c.changed = append(c.changed, s)
}

func (c *keyChange) write(tx *store.Tx) error {
	for _, s := range c.changed {
		if err := EnsureOrganization(tx, s.OrganizationID); err != nil {
			return err
		}
		if err := keyRows.Put(tx, s.ID, s); err != nil {
			return err
		}
	}
	return nil
}

// stored is the key as it is kept.
func (k KeySpec) stored(old *heldKey, others map[string]*heldKey) (storedKey, *problem.Error) {
	s := storedKey{Key: Key{ID: k.ID, Name: strings.TrimSpace(k.Name), Prefix: k.Prefix, Created: time.Now().UTC().Truncate(time.Millisecond), Expires: k.Expires.UTC()}}
	if old != nil {
		s.Created, s.LastUsed = old.Created, old.lastUsed()
	}
	hash, err := hex.DecodeString(k.Hash)
	switch {
	case k.ID == "" || len(k.ID) > 64 || k.ID == systemKeyID:
		return s, problem.New(problem.Invalid, "id", "is out of range: want 1 to 64 characters, and not %q", systemKeyID)
	case s.Name == "" || len(s.Name) > 100 || !printable.Line(s.Name):
		return s, problem.New(problem.Invalid, "name", "must have 1 to 100 characters on one line, without control characters")
	case err != nil || len(hash) != sha256.Size:
		return s, problem.New(problem.Invalid, "hash", "is not a SHA-256 in hex")
	case len(k.Prefix) > 16:
		return s, problem.New(problem.Invalid, "prefix", "is longer than 16 characters")
	}
	for _, other := range others {
		if string(other.Hash) == string(hash) && other.ID != k.ID {
			return s, problem.New(problem.Conflict, "hash", "is that of another key")
		}
	}
	s.Hash = hash
	if k.OrganizationID == "" {
		if len(k.Permissions) > 0 {
			return s, problem.New(problem.Invalid, "permissions", "are only for a key of an organization: name organization_id too")
		}
		return s, nil
	}
	set, err := auth.ParseSet(k.Permissions)
	switch {
	case err != nil:
		return s, problem.New(problem.Invalid, "permissions", "%v", err)
	case set == 0:
		return s, problem.New(problem.Invalid, "permissions", "is empty: a key without one opens nothing")
	case !auth.IsUUID(k.OrganizationID):
		return s, problem.New(problem.Invalid, "organization_id", "is not a UUID in small letters")
	}
	s.Kind, s.OrganizationID, s.Permissions = KindOrganization, k.OrganizationID, set
	return s, nil
}

// StagePeople makes these people, and no others, those who may sign in. Decisions made
// here about them stay.
func (d *Directory) StagePeople(people []config.Person) eventlog.Stage {
	d.turn.Lock()
	write := func(tx *store.Tx) error {
		for _, p := range people {
			if err := EnsureOrganization(tx, p.OrganizationID); err != nil {
				return err
			}
		}
		return nil
	}
	show := func() { d.setUsers(people, d.users.Load().marks) }
	return eventlog.Stage{Write: write, Show: show, Release: d.turn.Unlock}
}
