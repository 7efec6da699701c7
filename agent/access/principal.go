package access

import "roomgate/agent/auth"

// The kinds of those who ask.
const (
	KindSystem       = "system"       // an API key of the building
	KindOrganization = "organization" // an API key of an organization
	KindUser         = "user"         // a person who signed in
)

// KindAdmin is, of those who may give a command, a user who manages the building
// or an organization.
const KindAdmin = "admin"

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
	Role        auth.Role // of a user
	Email       string    // of a user, as auth.ParseEmail returns it
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

// Is says whether he is of a kind.
func (p Principal) Is(kind string) bool {
	return p.Kind == kind || kind == KindAdmin && p.Kind == KindUser && p.Admin
}

// Personal says whether he sees what is private of other people as nothing but busy:
// a user who does not manage the organization.
func (p Principal) Personal() bool { return p.Kind == KindUser && !p.Admin }

// Address is that of a person who makes and changes no bookings but his own; empty:
// he is none. A display is no person: whoever stands before it uses it.
func (p Principal) Address() string {
	if !p.Personal() || p.Role == auth.RoleDisplay {
		return ""
	}
	return p.Email
}

// System says whether he may do everything in the building, its keys included.
func (p Principal) System() bool { return p.Admin && !p.Bounded() }

// AuthenticateKey says whose secret this is. It takes the same time for a wrong
// secret as for a right one.
func (d *Directory) AuthenticateKey(secret string) (Principal, bool) {
	held := d.keyring.by(secret)
	if held == nil {
		return Principal{}, false
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

// Valid says whether a principal still has the permissions that he came with: his key or
// user exists, his token has not expired, and his role is the same or a higher one. A
// request that takes long, as a stream, asks from time to time.
func (d *Directory) Valid(p Principal) bool {
	if p.token == nil {
		held := d.keyring.held().byID[p.ID]
		return held != nil && d.keyring.good(held) && held.principal().covers(p)
	}
	now, err := d.AuthenticateToken(*p.token)
	return err == nil && now.covers(p)
}

// covers says whether he is now what p was before, or may more.
func (now Principal) covers(p Principal) bool {
	return now.May(p.Permissions) && (now.Admin || !p.Admin && now.Role == p.Role) && now.OrganizationID == p.OrganizationID
}
