package api

import (
	"net/netip"
	"runtime"

	"roomgate/agent/problem"
	"roomgate/cloud/guest"
)

// reader is whom a read counts for: a credential in a network.
type reader struct {
	who  string
	from netip.Prefix
}

// newReads are the turns of reads from the network: one processor is left for
// commands and the cloud, so that no number of clients delays them.
func newReads() *guest.Turns[reader] {
	return &guest.Turns[reader]{Most: max(1, runtime.GOMAXPROCS(0)-1)}
}

// isRead says whether an operation only reads, and is worth a turn. Those without a
// credential are small, but for the feed and the descriptions.
func (o *endpoint) isRead() bool {
	switch o.path {
	case "/healthz", "/readyz": // a supervisor must not wait
		return false
	}
	return o.method == "GET" && o.permission != permitSpacesWrite
}

// work waits for a turn to read, unless the call has it. It must not be kept while
// waiting for anything else, as for the client: rest gives it back.
func (c *call) work() error {
	if c.reads == nil || c.working {
		return nil
	}
	if c.working = c.reads.Take(c.r.Context(), reader{c.who.ID, clientAddress(c.r)}); !c.working {
		return &problem.Error{Code: problem.Unavailable, Message: "the request ended before its turn came: try again"}
	}
	return nil
}

// rest gives the turn back.
func (c *call) rest() {
	if c.working {
		c.working = false
		c.reads.Done()
	}
}
