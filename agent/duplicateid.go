package agent

import (
	"context"
	"time"
)

// duplicateEvery is how often at most it is told that another gateway has this
// one's id.
const duplicateEvery = time.Hour

// duplicateID tells that another gateway seems to use the id of this one: two
// that were given one seed, or a copied card. It belongs to the link, which
// notices that.
type duplicateID struct {
	agent *Agent
	told  time.Time // when it was last told; zero: never
}

// tell tells of so many connections in a row that the cloud's broker has closed
// soon. The event goes up with whichever connection lives long enough.
func (d *duplicateID) tell(ctx context.Context, times int) {
	if !d.told.IsZero() && time.Since(d.told) < duplicateEvery {
		return
	}
	id, log := d.agent.config.Gateway.ID, d.agent.log
	log.Error("another gateway probably uses the id of this one: the cloud's broker closes connection after connection; give one of the two another gateway.id",
		"gateway", id, "connections", times)
	if err := d.agent.NoteUpdate(ctx, "gatewayContested", map[string]any{"gateway_id": id, "count": times}); err != nil {
		log.Warn("cannot store yet the event of a duplicate id", "error", err)
		return
	}
	d.told = time.Now()
}
