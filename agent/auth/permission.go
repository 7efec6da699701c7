package auth

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Resources are what permissions are about, each to be read and written.
func Resources() []string {
	return []string{"devices", "events", "spaces", "bookings", "webhooks", "rules", "messages"}
}

// Set is a set of permissions.
type Set uint32

// The permissions, as <resource>:read and <resource>:write.
const (
	DevicesRead Set = 1 << iota
	DevicesWrite
	EventsRead
	EventsWrite
	SpacesRead
	SpacesWrite
	BookingsRead
	BookingsWrite
	WebhooksRead
	WebhooksWrite
	RulesRead
	RulesWrite
	MessagesRead
	MessagesWrite
	allEnd
	// All has every permission.
	All = allEnd - 1
)

// permissionNames are the names by bit.
var permissionNames = func() (names []string) {
	for _, r := range Resources() {
		names = append(names, r+":read", r+":write")
	}
	return names
}()

// ParseSet reads permissions. The error names the one that is unknown.
func ParseSet(names []string) (s Set, err error) {
	for _, name := range names {
		p, ok := parsePermission(name)
		if !ok {
			if len(name) > 40 {
				name = strings.ToValidUTF8(name[:40], "") + "..."
			}
			return 0, fmt.Errorf("has %q: want <resource>:read or <resource>:write, with a resource of %s", name, strings.Join(Resources(), ", "))
		}
		s |= p
	}
	return s, nil
}

func parsePermission(name string) (Set, bool) {
	for i, n := range permissionNames {
		if n == name {
			return 1 << i, true
		}
	}
	return 0, false
}

// Names lists the permissions of a set, always in the same order.
func (s Set) Names() []string {
	names := []string{}
	for i, n := range permissionNames {
		if s.Has(1 << i) {
			names = append(names, n)
		}
	}
	return names
}

// Has says whether every permission of p is in s.
func (s Set) Has(p Set) bool { return s&p == p }

// MarshalJSON writes the names.
func (s Set) MarshalJSON() ([]byte, error) {
	if s == 0 {
		return []byte("[]"), nil
	}
	return []byte(`["` + strings.Join(s.Names(), `","`) + `"]`), nil
}

// UnmarshalJSON reads the names. One that this version does not know gives no
// right.
func (s *Set) UnmarshalJSON(data []byte) error {
	var names []string
	if err := json.Unmarshal(data, &names); err != nil {
		return err
	}
	*s = 0
	for _, name := range names {
		p, _ := parsePermission(name)
		*s |= p
	}
	return nil
}

// Role is what a user is to a building.
type Role string

// The roles.
const (
	RoleAdmin    Role = "admin"    // everything, of the organization if there is one
	RoleOperator Role = "operator" // a member who also operates devices, doors too
	RoleMember   Role = "member"   // sees rooms, and books them for himself
	RoleDisplay  Role = "display"  // the page at a door, for anybody in front of it
)

// Roles lists the roles.
func Roles() []string {
	return []string{string(RoleAdmin), string(RoleOperator), string(RoleMember), string(RoleDisplay)}
}

// Permissions are those of a role; an unknown one has none.
func (r Role) Permissions() Set {
	const sees = DevicesRead | EventsRead | SpacesRead | BookingsRead | BookingsWrite
	switch r {
	case RoleAdmin:
		return All
	case RoleOperator:
		return sees | DevicesWrite | MessagesWrite
	case RoleMember, RoleDisplay:
		return sees
	}
	return 0
}
