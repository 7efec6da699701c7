package agent

import "roomgate/agent/auth"

// The kinds of those who ask.
const (
	KindSystem       = "system"       // an API key of the building
	KindOrganization = "organization" // an API key of an organization
	KindUser         = "user"         // a person who signed in
)

// Principal is who asks, and what he may.
type Principal struct {
	ID   string // of the key or of the user
	Name string
	Kind string
	// OrganizationID bounds what he sees and changes; empty: the whole
	// building.
	OrganizationID string
	// SpaceID bounds an edge device, whatever else it may, to its meeting space.
	SpaceID     string
	Permissions auth.Set
	// Admin manages keys, devices, rules and webhooks, of the organization if
	// there is one.
	Admin bool

	token *string // by which he came, if it was one; behind a pointer no log shows it
}

// May says whether he has every permission of a set.
func (p Principal) May(need auth.Set) bool { return p.Permissions.Has(need) }

// Sees says whether what belongs to an organization, or to none, is shown to
// him.
func (p Principal) Sees(organizationID string) bool {
	return p.OrganizationID == "" || p.OrganizationID == organizationID
}

// Bounded says whether there is anything in the building that is not shown to him.
func (p Principal) Bounded() bool { return p.OrganizationID != "" || p.SpaceID != "" }

// System says whether he may do everything in the building, its keys included.
func (p Principal) System() bool { return p.Admin && !p.Bounded() }

// AuthenticateKey says whose secret this is: of a system or an organization key,
// or of an edge device. It takes the same time for a wrong secret as for a right one.
func (a *Agent) AuthenticateKey(secret string) (Principal, bool) {
	held := a.heldBy(secret)
	if held == nil {
		return a.edges.principal(secret)
	}
	return held.principal(), true
}

// principal is who comes with a key.
func (k *heldKey) principal() Principal {
	if k.system() {
		return Principal{ID: k.ID, Name: k.Name, Kind: KindSystem, Permissions: auth.All, Admin: true}
	}
	return Principal{ID: k.ID, Name: k.Name, Kind: KindOrganization, OrganizationID: k.OrganizationID, Permissions: k.Permissions}
}

// Valid says whether a principal still may what he might when he came: his key
// or user is there, his token has not expired, and he has no right less. Those
// who answer one request for a long time ask again and again.
func (a *Agent) Valid(p Principal) bool {
	switch {
	case p.Kind == KindEdge:
		_, err := a.EdgeDevice(p.ID)
		return err == nil
	case p.token == nil:
		return !a.Revoked(p.ID)
	}
	now, err := a.AuthenticateToken(*p.token)
	return err == nil && now.May(p.Permissions) && (now.Admin || !p.Admin) && now.OrganizationID == p.OrganizationID
}

// AccessChanged returns a channel that is closed when a key was revoked or a
// user lost a right, for those who cannot wait until they ask Valid again.
// What expires is not told.
func (a *Agent) AccessChanged() <-chan struct{} { return a.signIn.changed.Wait() }
