package agent

import (
	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/schedule"
	"roomgate/store"
)

// loadSpace makes a space with its room, its devices, and what is stored of them.
func (a *Agent) loadSpace(tx *store.Tx, c config.Space, r *schedule.Room) (*space, error) {
	s := newSpace(c, newLasting(r), a.clock.Clock)
	for _, dc := range c.Devices {
		d, err := a.loadDevice(tx, s, dc)
		if err != nil {
			return nil, err
		}
		s.add(d)
	}
	return s, nil
}

// loadDevice makes a device with what was last known and set of it.
func (a *Agent) loadDevice(tx *store.Tx, s *space, c config.Device) (*device.Device, error) {
	return device.Load(tx, deviceOptions(a, s, c))
}
