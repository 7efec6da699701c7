package site

import (
	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/agent/roombroker"
)

// Index is the meeting spaces and devices of the building at one moment. It is
// never changed, so readers take no lock.
type Index struct {
	byID      map[string]*Space
	devices   map[string]*device.Device
	order     []*Space // the configuration's, then what came later
	room      *roombroker.Access
	passwords map[string]string // of the users of the room broker that were made at run time
}

func newIndex(c *config.Config, order []*Space, added made) *Index {
	var all []roombroker.Device
	x := &Index{byID: map[string]*Space{}, devices: map[string]*device.Device{}, order: order}
	for _, s := range order {
		x.byID[s.ID] = s
		for _, d := range s.Devices {
			x.devices[d.ID] = d
			all = append(all, roombroker.Device{ID: d.ID, Options: d.Options})
		}
	}
	c, x.passwords = added.users(c, all)
	x.room = roombroker.New(c, all)
	return x
}

// Spaces are the meeting spaces, in the configuration's order, then those that
// were made at run time. The slice must not be changed.
func (x *Index) Spaces() []*Space { return x.order }

// Find returns the space of that id, or nil.
func (x *Index) Find(spaceID string) *Space { return x.byID[spaceID] }

// Device returns the device of that id, or nil.
func (x *Index) Device(id string) *device.Device { return x.devices[id] }

// Devices are those of all spaces, in order.
func (x *Index) Devices() (all []*device.Device) {
	for _, s := range x.order {
		all = append(all, s.Devices...)
	}
	return all
}

// space returns the space of that id, or a refusal.
func (x *Index) space(id string) (*Space, error) {
	if s := x.byID[id]; s != nil {
		return s, nil
	}
	return nil, problem.New(problem.NotFound, "meeting_space_id", "is not a meeting space of this building")
}

// device returns the device of that id, or a refusal.
func (x *Index) device(id string) (*device.Device, error) {
	if d := x.devices[id]; d != nil {
		return d, nil
	}
	return nil, problem.New(problem.NotFound, "device_id", "is not a device of this building")
}

// info is a device with the name of its space.
func (x *Index) info(d *device.Device) device.Info {
	name := ""
	if s := x.byID[d.SpaceID]; s != nil {
		name = s.Name
	}
	return d.Info(name)
}
