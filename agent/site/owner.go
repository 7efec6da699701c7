package site

import "roomgate/agent/access"

// OrganizationOf is the organization that a space belongs to, empty for none; it
// refuses a space that is not there.
func (s *Site) OrganizationOf(spaceID string) (string, error) {
	space, err := s.Space(spaceID)
	if err != nil {
		return "", err
	}
	return s.ownerOf(space), nil
}

// ownerOf is the organization that a space belongs to: the one in its configuration,
// else the one that has claimed the gateway, else none. It is computed at each call,
// so it follows the claim at once.
func (s *Site) ownerOf(space *Space) string {
	if own := space.Config.Organization(); own != "" {
		return own // who asks for such a space never waits for the claim
	}
	return s.o.Claimed()
}

// SpacesSeen are the ids of the spaces that a principal sees; nil stands for
// the whole building.
func (s *Site) SpacesSeen(p access.Principal) []string {
	if p.OrganizationID == "" {
		return nil
	}
	seen := []string{}
	for _, space := range s.Spaces() {
		if p.Sees(s.ownerOf(space)) {
			seen = append(seen, space.ID)
		}
	}
	return seen
}
