package agent

import (
	"time"

	"roomgate/agent/eventlog"
	"roomgate/agent/schedule"
	"roomgate/drivers"
)

// presence is what the space's sensor has seen, unless that is stale.
func (s *space) presence() schedule.Presence {
	d := s.byType[drivers.TypeO3]
	if d == nil {
		return schedule.Presence{Value: schedule.Unknown}
	}
	r, ok := d.Reading(drivers.SubOccupancy)
	if !ok || r.Offline() || r.Value != schedule.Occupied && r.Value != schedule.Vacant {
		return schedule.Presence{Value: schedule.Unknown}
	}
	return schedule.Presence{Value: r.Value, ObservedAt: eventlog.StampOrNil(r.ObservedAt.Add(s.clock.Ahead())), Source: r.Source}
}

// blind says that the space's sensor has not answered since the start, so that
// nobody can tell whether the room is empty.
func (s *space) blind() bool {
	d := s.byType[drivers.TypeO3]
	return d != nil && d.Live().Enabled && !d.Seen()
}

// stamp writes a time as the platform does.
func stamp(t time.Time) string { return eventlog.Stamp(t) }

// SpaceOfDevice returns the id of the space that a device is in.
func (a *Agent) SpaceOfDevice(deviceID string) (string, error) {
	if d := a.site.Load().device(deviceID); d != nil {
		return d.SpaceID, nil
	}
	return "", refuse(NotFound, "device_id", "is not a device of this building")
}
