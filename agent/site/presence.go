package site

import (
	"roomgate/agent/eventlog"
	"roomgate/agent/schedule"
	"roomgate/drivers"
)

// Presence is what the space's sensor has seen, unless that is stale.
func (s *Space) Presence() schedule.Presence {
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

// blind says that the space's sensor has not answered since the start: whether the
// room is empty is not known.
func (s *Space) blind() bool {
	d := s.byType[drivers.TypeO3]
	return d != nil && d.Live().Enabled && !d.Seen()
}

// Presence is what the sensor of a space has seen. It is blind while the sensor has
// not answered since the start, and Unknown for an unknown space.
func (s *Site) Presence(spaceID string) (seen schedule.Presence, blind bool) {
	if space := s.Find(spaceID); space != nil {
		return space.Presence(), space.blind()
	}
	return schedule.Presence{Value: schedule.Unknown}, false
}

// Ask wakes who sends the state of a space, although it may be the same.
func (s *Site) Ask(spaceID string) {
	if space := s.Find(spaceID); space != nil {
		space.Asked.Wake()
	}
}

// Changed wakes who sends the state of a space, and who controls the room by it.
func (s *Site) Changed(spaceID string) {
	if space := s.Find(spaceID); space != nil {
		space.Changed()
	}
}
