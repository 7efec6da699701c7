package agent

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"roomgate/agent/auth"
)

// CreateOrgKey makes a key of an organization with permissions as
// <resource>:read and <resource>:write. The secret is returned once and stored
// hashed only. A zero expires means never.
func (a *Agent) CreateOrgKey(ctx context.Context, organizationID, name string, permissions []string, expires time.Time) (Key, string, error) {
	if _, err := a.Organization(organizationID); err != nil {
		return Key{}, "", err
	}
	set, err := auth.ParseSet(permissions)
	switch {
	case err != nil:
		return Key{}, "", refuse(Invalid, "permissions", "%v", err)
	case set == 0:
		return Key{}, "", refuse(Invalid, "permissions", "is empty: a key without one opens nothing")
	}
	if name, err = keyName(name, expires); err != nil {
		return Key{}, "", err
	}
	secret := auth.NewAPISecret(auth.OrganizationPrefix)
	k, err := a.putKey(ctx, Key{ID: ulid.Make().String(), Name: name, Expires: expires, Kind: KindOrganization,
		OrganizationID: organizationID, Permissions: set}, secret)
	return k, secret, err
}

// keyName refuses a name or an end that no key can have.
func keyName(name string, expires time.Time) (string, error) {
	name = strings.TrimSpace(name)
	switch {
	case name == "" || len(name) > 100:
		return "", refuse(Invalid, "name", "must have 1 to 100 characters")
	case !expires.IsZero() && !expires.After(time.Now()):
		return "", refuse(Invalid, "expires_at", "is in the past")
	}
	return name, nil
}

// OrgKeys returns the keys of an organization, oldest first.
func (a *Agent) OrgKeys(organizationID string) ([]Key, error) {
	if _, err := a.Organization(organizationID); err != nil {
		return nil, err
	}
	return a.keysOf(func(k Key) bool { return k.Kind == KindOrganization && k.OrganizationID == organizationID }), nil
}

// RevokeOrgKey ends a key of an organization at once. That of another is not
// found.
func (a *Agent) RevokeOrgKey(ctx context.Context, organizationID, id string) error {
	keys, err := a.OrgKeys(organizationID)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(keys, func(k Key) bool { return k.ID == id }) {
		return refuse(NotFound, "id", "is not a key of this organization")
	}
	return a.RevokeKey(ctx, id)
}
