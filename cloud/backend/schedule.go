package backend

import (
	"context"
	"encoding/json"

	"roomgate/cloud"
)

// The kinds of a Schedule.
const (
	Snapshot = "snapshot" // all that is booked from now on
	Delta    = "delta"    // what has changed since the revision before
)

// Schedule is what is booked in one meeting space.
type Schedule struct {
	MeetingSpaceID string `json:"meeting_space_id"`
	// Revision rises by one from message to message of a space. A gateway that
	// misses one sends the event snapshotWanted.
	Revision uint64 `json:"revision"`
	Kind     string `json:"kind"`
	// Bookings are JSON objects, at most 4 MiB altogether, and in parts if need be; package
	// roomgate/agent/booking has the type, and Merge, which both sides call.
	Bookings []json.RawMessage `json:"bookings"`
	Removed  []string          `json:"removed,omitempty"`
}

// Schedule sends a schedule to a gateway and returns the message's id, which
// the receipt names. It waits as Push does.
func (b *Backend) Schedule(ctx context.Context, gateway string, s Schedule) (id string, err error) {
	if s.Bookings == nil {
		s.Bookings = []json.RawMessage{}
	}
	return b.pushParts(ctx, gateway, cloud.LevelSchedule, "", s)
}
