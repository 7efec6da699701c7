package api

import (
	"time"

	"roomgate/agent/loop"
	"roomgate/agent/problem"
	"roomgate/cloud/guest"
)

// paces slow down who changes something without a pause: each change is written to the card
// and told to the cloud, and what others command is told after it. Of one credential so many
// come at once, and then one in every step; who asks one after the other only waits.
type paces struct {
	credentials   guest.Tries[string]
	organizations guest.Tries[string] // of all their credentials
}

func newPaces() paces {
	return paces{guest.Tries[string]{Burst: paceBurst, Every: paceStep}, guest.Tries[string]{Burst: paceOfOrg * paceBurst, Every: paceStep / paceOfOrg}}
}

const (
	// paceBurst is how many changes of one credential come at once.
	paceBurst = 1000
	// paceStep is how often one comes after those.
	paceStep = 50 * time.Millisecond
	// paceOfOrg is how many times as much all credentials of an organization have together: many credentials
	// do not get more.
	paceOfOrg = 4
	// longestPace is how long one waits at most; who asks for more at one time is refused.
	longestPace = 5 * time.Second
)

// pace waits until a request may make so many changes, or refuses all of them.
func (s *Server) pace(c *call, changes int) error {
	if changes < 1 || c.operation.reading || c.operation.permission == permitAll || c.who == operator {
		return nil
	}
	own, now := c.who.Kind+" "+c.who.ID, time.Now()
	longest := longestPace + time.Duration(changes-1)*paceStep // its own changes do not refuse it
	wait, ok := s.paces.credentials.Wait(own, changes, longest, now)
	if !ok {
		return problem.TooOften("this credential changes too much at one time", wait)
	}
	if of := c.who.OrganizationID; of != "" {
		all, ok := s.paces.organizations.Wait(of, changes, longest, now)
		if !ok {
			s.paces.credentials.Return(own, changes, now) // nothing is changed
			return problem.TooOften("this organization changes too much at one time", all)
		}
		wait = max(wait, all)
	}
	if wait == 0 {
		return nil
	}
	loop.Sleep(c.r.Context(), wait)
	return c.again()
}
