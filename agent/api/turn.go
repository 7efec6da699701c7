package api

import (
	"net/netip"
	"runtime"
	"strings"

	"roomgate/agent/problem"
	"roomgate/cloud/guest"
)

// reader is whom a turn counts for: a credential in a network, or the network alone
// while no credential was good.
type reader struct {
	who  string
	from netip.Prefix
}

// limiter lets so many requests from the network work at one time; the others wait in line for their turn.
type limiter = guest.Turns[reader]

// limiters bound how many requests are worked on at one time. What the cloud commands
// shares the processors with them, so 500 clients that ask without a pause may be
// no more work at one time than a few. Each kind has a limiter of its own: a display
// waits for no list, and a supervisor for nobody but supervisors. What takes a microsecond has
// a turn for each processor: with fewer, most would only stand in line.
type limiters struct {
	reads  limiter // what is collected for the answer: one processor is left for others
	quick  limiter // what is known already: status, and refusals of all kinds
	health limiter
}

func newLimiters() *limiters {
	return &limiters{limiter{Most: max(1, runtime.GOMAXPROCS(0)-1)}, limiter{Most: runtime.GOMAXPROCS(0)}, limiter{Most: 1}}
}

// of is where an operation waits. One that changes something waits only to be
// refused.
func (l *limiters) of(o *endpoint) *limiter {
	switch {
	case o.path == "/healthz" || o.path == "/readyz":
		return &l.health
	case o.method == "GET" && o.reading:
		return &l.reads
	}
	return &l.quick
}

// reads says whether an operation changes nothing. POST asks too, as for status.
func (r route) reads() bool {
	if r.method == "GET" {
		return !r.changes()
	}
	return strings.HasSuffix(strings.TrimSuffix(string(r.permission), string(orEdge)), ":read")
}

// work waits for a turn, unless the call has it. It must not be kept while waiting
// for anything else, as for the client: rest gives it back.
func (c *call) work() error {
	if c.limiter == nil || c.working {
		return nil
	}
	c.working = c.limiter.TakeFree() || c.limiter.Take(c.r.Context(), reader{c.who.ID, clientAddress(c.r)})
	if !c.working {
		return &problem.Error{Code: problem.Unavailable, Message: "the request ended before its turn came: try again"}
	}
	return nil
}

// rest gives the turn back.
func (c *call) rest() {
	if c.working {
		c.working = false
		c.limiter.Done()
	}
}
