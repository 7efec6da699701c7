package agent

import (
	"context"
	"time"
)

// contestEvery is how often at most it is told that another gateway has this
// one's id.
const contestEvery = time.Hour

// contested is how many connections in a row the cloud's broker has closed soon.
func (a *Agent) contested() int {
	if a.link == nil {
		return 0
	}
	return a.link.Contested()
}

// cloudContested tells that another gateway seems to use the id of this one: two
// that were given one seed, or a copied card. The event goes up with whichever
// connection lives long enough.
func (a *Agent) cloudContested(ctx context.Context, times int) {
	if !a.contestTold.IsZero() && time.Since(a.contestTold) < contestEvery {
		return
	}
	a.log.Error("another gateway probably uses the id of this one: the cloud's broker closes connection after connection; give one of the two another gateway.id",
		"gateway", a.config.Gateway.ID, "connections", times)
	if err := a.NoteUpdate(ctx, "gatewayContested", map[string]any{"gateway_id": a.config.Gateway.ID, "count": times}); err != nil {
		a.log.Warn("that another gateway has this id cannot be stored yet", "error", err)
		return
	}
	a.contestTold = time.Now()
}
