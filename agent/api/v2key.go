package api

import (
	"cmp"

	"roomgate/agent/access"
)

// keyRecord is an API key of V2.0, of the building or of an organization.
type keyRecord struct {
	access.Key
	Kind           string   `json:"kind"`
	OrganizationID maybe    `json:"organization_id"`
	Permissions    []string `json:"permissions"` // null: it may do everything
	Created        moment   `json:"created_at"`
	Expires        moment   `json:"expires_at"`   // null: never
	LastUsed       moment   `json:"last_used_at"` // null: never
	Secret         string   `json:"secret,omitempty"`
}

func newKeyRecord(k access.Key) keyRecord {
	r := keyRecord{Key: k, Kind: cmp.Or(k.Kind, access.KindSystem), OrganizationID: maybe(k.OrganizationID),
		Created: moment(k.Created), Expires: moment(k.Expires), LastUsed: moment(k.LastUsed)}
	if r.Kind != access.KindSystem {
		r.Permissions = k.Permissions.Names()
	}
	return r
}

// newSecretKey is a key that was made just now, with its secret.
func newSecretKey(k access.Key, secret string) keyRecord {
	r := newKeyRecord(k)
	r.Secret = secret
	return r
}

func keyID(k access.Key) string { return k.ID }
