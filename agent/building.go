package agent

import "roomgate/agent/access"

// OrganizationOf is the organization that a space belongs to, empty for none.
func (a *Agent) OrganizationOf(spaceID string) (string, error) {
	s, err := a.space(spaceID)
	if err != nil {
		return "", err
	}
	return a.ownerOf(s), nil
}

// ownerOf is the organization that a space belongs to: the one that it names, else
// the one that has claimed the gateway, empty if nobody has. Nothing is written
// for it, so it holds from the moment at which the claim is stored, and as long.
func (a *Agent) ownerOf(s *space) string {
	if own := s.Organization(); own != "" {
		return own // who asks for such a space never waits for the claim
	}
	return a.Claim.Organization()
}

// SpacesSeen are the ids of the spaces that a principal sees; nil stands for
// the whole building.
func (a *Agent) SpacesSeen(p access.Principal) []string {
	if p.OrganizationID == "" {
		return nil
	}
	seen := []string{}
	for _, s := range a.spaces() {
		if p.Sees(a.ownerOf(s)) {
			seen = append(seen, s.ID)
		}
	}
	return seen
}

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
		_, err := a.Edges.Get(p.ID)
		return err == nil
	}
	return a.Access.Valid(p)
}
