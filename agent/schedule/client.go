package schedule

import (
	"net/http"
	"net/url"
	"strings"

	"roomgate/agent/calendar"
	"roomgate/agent/loop"
	"roomgate/agent/outgoing"
	"roomgate/agent/problem"
)

// calendarClients are the ways to external calendars: of what a tenant links,
// and of what the configuration file names, which may be anywhere.
type calendarClients struct {
	linked, own *http.Client
	policy      outgoing.Policy // of linked
	// turn has who reads a calendar now: one at a time, as the largest that is
	// taken needs a good part of the memory of a small gateway.
	turn loop.Turn
}

func newCalendarClients(o Options) calendarClients {
	c := calendarClients{o.Calendars, o.Calendars, o.Policy, loop.NewTurn()}
	if o.Calendars == nil {
		c.linked, c.own = calendar.NewClient(c.policy), calendar.NewClient(outgoing.Policy{Anywhere: true})
	}
	return c
}

// of is the way to the calendar that a space follows now.
func (c calendarClients) of(r *Room) *http.Client {
	if r.terms.Load().calendar == nil && !r.config.Load().Calendar.Added {
		return c.own
	}
	return c.linked
}

// check refuses a URL that no calendar can be linked to.
func (c calendarClients) check(text string) error {
	if err := calendar.CheckURL(text); err != nil {
		return problem.New(problem.Invalid, "url", "cannot be followed: %v", err)
	}
	u, err := url.Parse(strings.TrimSpace(text))
	if err == nil {
		err = c.policy.CheckURL(u)
	}
	if err != nil {
		return problem.New(problem.Invalid, "url", "cannot be followed: it %v", err)
	}
	return nil
}
