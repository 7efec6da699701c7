package agent

import (
	"roomgate/agent/access"
	"roomgate/agent/edge"
)

// KindEdge is a principal who comes with the key of an edge device.
const KindEdge = "edge"

// AuthenticateKey says whose secret this is: of a system or an organization key,
// or of an edge device. It takes the same time for a wrong secret as for a right one.
func (a *Agent) AuthenticateKey(secret string) (access.Principal, bool) {
	if p, ok := a.Access.AuthenticateKey(secret); ok {
		return p, ok
	}
	return edgePrincipal(a.Edges, secret)
}

// Valid says whether a principal still may what he might when he came, see
// [access.Directory.Valid]: an edge device as long as it is registered.
func (a *Agent) Valid(p access.Principal) bool {
	if p.Kind == KindEdge {
		return a.Edges.Holds(p.ID)
	}
	return a.Access.Valid(p)
}

// edgePrincipal says which edge device has that secret.
func edgePrincipal(edges *edge.Devices, secret string) (access.Principal, bool) {
	d, ok := edges.ByKey(secret)
	if !ok {
		return access.Principal{}, false
	}
	return access.Principal{ID: d.ID, Name: d.Name, Kind: KindEdge, SpaceID: d.SpaceID, Permissions: edge.Permissions(d.Kind)}, true
}
