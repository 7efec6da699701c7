package agent

import (
	"time"

	"roomgate/agent/access"
)

// holdings says in words what an organization has outside of its directory: what is
// there keeps it from being removed.
func holdings(a *Agent, organization string) (has []string) {
	spaces := 0
	for _, s := range a.Site.Spaces() {
		if owner, err := a.Site.OrganizationOf(s.ID); err == nil && owner == organization {
			spaces++
		}
	}
	bookings := 0
	if all, err := a.Bookings.List("", a.Now(), time.Time{}); err == nil {
		for _, b := range all {
			if b.Live() && b.OrganizationID == organization {
				bookings++
			}
		}
	}
	if a.Claim.Organization() == organization {
		has = append(has, "the gateway, which it has claimed")
	}
	for _, h := range []struct {
		n    int
		noun string
	}{{spaces, "meeting space"}, {len(a.Webhooks.List(organization)), "webhook"}, {bookings, "booking"}} {
		if words := access.Counted(h.n, h.noun); words != "" {
			has = append(has, words)
		}
	}
	return has
}
