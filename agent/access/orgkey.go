package access

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"roomgate/agent/auth"
	"roomgate/agent/printable"
	"roomgate/agent/problem"
)

// CreateOrgKey makes a key of an organization with permissions as
// <resource>:read and <resource>:write. The secret is returned once and stored
// hashed only. A zero expires means never.
func (d *Directory) CreateOrgKey(ctx context.Context, organizationID, name string, permissions []string, expires time.Time) (Key, string, error) {
	if _, err := d.Organization(organizationID); err != nil {
		return Key{}, "", err
	}
	set, err := auth.ParseSet(permissions)
	switch {
	case err != nil:
		return Key{}, "", problem.New(problem.Invalid, "permissions", "%v", err)
	case set == 0:
		return Key{}, "", problem.New(problem.Invalid, "permissions", "is empty: a key without one opens nothing")
	}
	if name, err = keyName(name, expires); err != nil {
		return Key{}, "", err
	}
	secret := auth.NewAPISecret(auth.OrganizationPrefix)
	k, err := d.keyring.put(ctx, Key{ID: ulid.Make().String(), Name: name, Expires: expires, Kind: KindOrganization,
		OrganizationID: organizationID, Permissions: set}, secret)
	return k, secret, err
}

// keyName refuses a name or an end that no key can have.
func keyName(name string, expires time.Time) (string, error) {
	name = strings.TrimSpace(name)
	switch {
	case name == "" || len(name) > 100 || !printable.Line(name):
		return "", problem.New(problem.Invalid, "name", "must have 1 to 100 characters on one line, without control characters")
	case !expires.IsZero() && !expires.After(time.Now()):
		return "", problem.New(problem.Invalid, "expires_at", "is in the past")
	}
	return name, nil
}

// OrgKeys returns the keys of an organization, oldest first.
func (d *Directory) OrgKeys(organizationID string) ([]Key, error) {
	if _, err := d.Organization(organizationID); err != nil {
		return nil, err
	}
	return d.keyring.of(func(k Key) bool { return k.Kind == KindOrganization && k.OrganizationID == organizationID }), nil
}

// RevokeOrgKey ends a key of an organization at once. That of another is not
// found.
func (d *Directory) RevokeOrgKey(ctx context.Context, organizationID, id string) error {
	keys, err := d.OrgKeys(organizationID)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(keys, func(k Key) bool { return k.ID == id }) {
		return problem.New(problem.NotFound, "id", "is not a key of this organization")
	}
	return d.RevokeKey(ctx, id)
}
