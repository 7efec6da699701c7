package health

import (
	"context"
	"time"
)

// duplicateEvery is how often at most it is told that another gateway has this
// one's id.
const duplicateEvery = time.Hour

// TellContested tells that another gateway uses the id of this one: two
// that were given one seed, or a copied card. times is how many connections in a
// row the cloud's broker has closed soon. The event goes up with whichever
// connection lives long enough. Only the link, which notices that, may call it.
func (m *Monitor) TellContested(ctx context.Context, times int) {
	if !m.told.IsZero() && time.Since(m.told) < duplicateEvery {
		return
	}
	id, log := m.o.Config.Gateway.ID, m.o.Log
	log.Error("another gateway probably uses the id of this one: the cloud's broker closes connection after connection; give one of the two another gateway.id",
		"gateway", id, "connections", times)
	if err := m.NoteGateway(ctx, eventContested, map[string]any{"gateway_id": id, "count": times}); err != nil {
		log.Warn("cannot store yet the event of a duplicate id", "error", err)
		return
	}
	m.told = time.Now()
}
