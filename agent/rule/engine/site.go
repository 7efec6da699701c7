package engine

import (
	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/agent/schedule"
)

// Space is a meeting space as rules see it: what is booked there, and its devices.
type Space struct {
	*schedule.Room
	Devices []*device.Device
	// Device returns the device of a type, or a refusal that names the field at
	// fault.
	Device func(deviceType string) (*device.Device, error)
}

// Site is the meeting spaces of the building at one moment. It is never changed.
type Site struct {
	order []*Space
	byID  map[string]*Space
}

// NewSite makes a site of spaces, in the order in which rules by time ask them.
func NewSite(spaces ...*Space) *Site {
	t := &Site{order: spaces, byID: map[string]*Space{}}
	for _, s := range spaces {
		t.byID[s.ID] = s
	}
	return t
}

// space returns the space of that id, or a refusal.
func (t *Site) space(id string) (*Space, error) {
	if s := t.byID[id]; s != nil {
		return s, nil
	}
	return nil, problem.New(problem.NotFound, "meeting_space_id", "is not a meeting space of this building")
}

// idOf is the id of a space; empty: there is none.
func idOf(s *Space) string {
	if s == nil {
		return ""
	}
	return s.ID
}
