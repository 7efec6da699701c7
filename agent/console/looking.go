package console

import (
	"cmp"

	"roomgate/agent/access"
	"roomgate/agent/problem"
	"roomgate/cloud/guest"
)

// Each reader's view of a page is kept in memory for him alone, megabytes of it where
// an organization has many users or keys.
const (
	maxLooking  = 12 // of those who may do everything in the building
	maxVisiting = 12 // of everybody else
)

// looking are the pages that are followed. Those of the building's admins have places that
// no tenant takes.
type looking struct{ building, others guest.Places }

// Enter counts a page that who begins to follow, until the caller leaves its place. Once
// that is needed for somebody else, of the organization or credential with fewer, it is lost
// and out is called, which must not wait. A Busy problem: who has as many as others already.
func (c *Console) Enter(who access.Principal, out func()) (*guest.Place, error) {
	places, credential := &c.looking.others, who.Kind+" "+who.ID
	if who.System() {
		places = &c.looking.building
	}
	place := places.EnterPart(cmp.Or(who.OrganizationID, credential), credential, out)
	if place == nil {
		return nil, problem.New(problem.Busy, "", "too many pages of the console are open: close some of yours")
	}
	return place, nil
}
