package health

import (
	"context"

	"roomgate/agent/eventlog"
	"roomgate/store"
)

// NoteGateway stores an event about the gateway itself.
func (m *Monitor) NoteGateway(ctx context.Context, event string, details map[string]any) error {
	return m.o.Events.Update(ctx, func(tx *store.Tx) error { return m.Tell(tx, event, details) })
}

// Tell writes down what happened to the gateway itself, in the transaction that
// makes it true.
func (m *Monitor) Tell(tx *store.Tx, event string, details map[string]any) error {
	return m.o.Events.Tell(tx, eventlog.Record{Type: event, Time: m.o.Clock.Now(), Device: eventlog.GatewayDevice, Details: details})
}
