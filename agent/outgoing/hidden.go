package outgoing

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
)

// Hidden is a failure of which the one who named the target learns no more than
// that it failed: the rest would tell the names, addresses and ports of a
// network that he is not in. Err is for the gateway's log and holds nothing of
// the request but its host.
type Hidden struct{ Err error }

// Unreachable is what a Hidden failure says, behind the name of the target.
const Unreachable = "cannot be reached: its name is not known, it leads where this gateway must not go, or nobody there answers as expected; the gateway's log says which"

// Error is the same for every cause.
func (h *Hidden) Error() string { return Unreachable }

// Unwrap returns the cause, which is not to be shown.
func (h *Hidden) Unwrap() error { return h.Err }

// Reason is what an error hides, for the log; empty: nothing.
func Reason(err error) string {
	if h := (*Hidden)(nil); errors.As(err, &h) {
		return h.Err.Error()
	}
	return ""
}

// Inside says whether an answer came from a network that anybody who named the
// target is not in, so that he learns no more of it than of a Hidden failure.
func Inside(resp *http.Response) bool {
	if resp.Request == nil {
		return false
	}
	t, _ := resp.Request.Context().Value(trailKey{}).(*trail)
	return t != nil && t.hides()
}

type trailKey struct{}

// trail is what kinds of addresses a request has gone to. Attempts to connect
// may go on after it has ended.
type trail struct{ inside, public atomic.Bool }

// follow lets a request leave the trail.
func (t *trail) follow(ctx context.Context, g *guard) context.Context {
	note := func(address string) {
		if g.public(addressOf(address)) {
			t.public.Store(true)
		} else {
			t.inside.Store(true)
		}
	}
	ctx = context.WithValue(ctx, trailKey{}, t)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		ConnectStart: func(_, address string) { note(address) },
		GotConn:      func(c httptrace.GotConnInfo) { note(c.Conn.RemoteAddr().String()) },
	})
}

// hides says whether the result of the request is to be hidden: it went
// somewhere inside, or nowhere, which tells inner names from others.
func (t *trail) hides() bool { return t.inside.Load() || !t.public.Load() }
