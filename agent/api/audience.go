package api

import (
	"strings"

	"roomgate/agent"
	"roomgate/agent/access"
	"roomgate/agent/auth"
	"roomgate/agent/console"
)

// audience says who may do an operation, in the words of README.md: the least role of a person, and
// the permission of a key.
func (o *endpoint) audience() string {
	key := "`" + strings.TrimSuffix(string(o.permission), string(orEdge)) + "`"
	switch o.permission {
	case permitAll:
		return "everybody"
	case permitAny:
		return "anyone"
	case permitLook:
		return leastRole(console.Sees) + ", a key with `" + strings.Join(console.Sees.Names(), "` and `") + "`"
	case permitAdmin:
		return "admin"
	case permitSystem:
		return "building"
	}
	if o.edge {
		key = "edge, " + key
	}
	return leastRole(o.need) + ", " + key
}

// leastRole is the first of the roles that has permissions; an admin has all.
func leastRole(need auth.Set) string {
	for _, r := range []auth.Role{auth.RoleMember, auth.RoleOperator} {
		if r.Permissions().Has(need) {
			return string(r)
		}
	}
	return string(auth.RoleAdmin)
}

// lacks says why somebody may not: a person by his role, a key by its permissions.
func lacks(p *principal, need auth.Set, permission permission) string {
	admin := permission == permitAdmin || permission == permitSystem
	switch {
	case permission == permitSystem && p.Admin:
		return "an admin of an organization may not: it takes a system key, or an admin of the building"
	case p.Kind == agent.KindEdge:
		return "this is not for edge devices, which beat, read, switch and dim in their meeting space: use the key of an organization"
	case p.Kind == access.KindUser && permission == permitSystem:
		return "the role " + string(p.Role) + " may not: it takes an admin of the building"
	case p.Kind == access.KindUser && admin:
		return "the role " + string(p.Role) + " may not: it takes the role admin"
	case p.Kind == access.KindUser && permission == permitLook:
		return "the role " + string(p.Role) + " may not: it takes the role " + leastRole(console.Sees)
	case p.Kind == access.KindUser:
		return "the role " + string(p.Role) + " may not: it takes the role " + leastRole(need)
	case permission == permitSystem:
		return "the key of an organization may not: it takes a system key, or an admin of the building"
	case admin:
		return "the key of an organization may not: it takes a system key, or a person with the role admin"
	case permission == permitLook:
		return "this key needs all of these permissions: " + strings.Join(console.Sees.Names(), ", ")
	}
	return "this key has no permission " + strings.TrimSuffix(string(permission), string(orEdge))
}
