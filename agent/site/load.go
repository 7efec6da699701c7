package site

import (
	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/schedule"
	"roomgate/drivers"
	"roomgate/store"
)

// loadSpace makes a space with its room, its devices, and what is stored of them.
func (s *Site) loadSpace(tx *store.Tx, c config.Space, r *schedule.Room) (*Space, error) {
	space := newSpace(c, newLasting(r), s.o.Clock)
	for _, dc := range c.Devices {
		d, err := s.loadDevice(tx, space, dc)
		if err != nil {
			return nil, err
		}
		space.add(d)
	}
	return space, nil
}

// loadDevice makes a device of a space with what was last known and set of it.
func (s *Site) loadDevice(tx *store.Tx, space *Space, c config.Device) (*device.Device, error) {
	return device.Load(tx, device.Options{Config: c, SpaceID: space.ID, Events: s.o.Events, Commands: s.o.Commands, Buses: s.o.Buses,
		Log: s.o.Log.With("meeting_space", space.Name, "device", c.ID), Changed: space.Changed,
		Entered: func(typed drivers.Secret) bool { return s.o.Entered(c.ID, typed) }})
}
