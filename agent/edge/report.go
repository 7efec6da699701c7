package edge

import (
	"context"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/store"
)

// EventReported is what the log says of a fault that somebody at the door has
// reported.
const EventReported = "problemReported"

// reports is how often a fault of a meeting space can be reported.
var reports = auth.Rate{Burst: 10, Every: time.Minute}

// Report writes down that somebody at a door has reported a fault. what is a word
// of the page, state is what the devices of the space are like, by is the name of
// the display. It refuses a space with too many of them.
func (ds *Devices) Report(ctx context.Context, spaceID, what string, state map[string]string, by string) error {
	if wait, ok := ds.reported.Take(spaceID, time.Now()); !ok {
		return problem.TooOften("too many problems were reported at this door", wait)
	}
	return ds.o.Events.Update(ctx, func(tx *store.Tx) error {
		return ds.o.Events.Tell(tx, eventlog.Record{Type: EventReported, Time: time.Now(), Space: spaceID, Device: eventlog.SpaceDevice,
			Details: map[string]any{"problem": what, "devices": state, "by": by}})
	})
}
