package agent

import (
	"context"

	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/loop"
	"roomgate/agent/roombroker"
	"roomgate/agent/rule/engine"
	"roomgate/agent/unlock"
)

// site is the meeting spaces and devices of the building as they are now.
// Readers take no lock; it is replaced whole, never changed.
type site struct {
	byID  map[string]*space
	known map[string]*device.Device
	order []*space // the configuration's, then what came later
	room  *roombroker.Access
	ruled *engine.Site // the same as rules see it
}

func newSite(c *config.Config, order []*space) *site {
	var all []roombroker.Device
	t := &site{byID: map[string]*space{}, known: map[string]*device.Device{}, order: order, ruled: ruledSite(order)}
	for _, s := range order {
		t.byID[s.ID] = s
		for _, d := range s.devices {
			t.known[d.ID] = d
			all = append(all, roombroker.Device{ID: d.ID, Options: d.Options})
		}
	}
	t.room = roombroker.New(c, all)
	return t
}

// space returns the space of that id, or a refusal.
func (t *site) space(id string) (*space, error) {
	if s := t.byID[id]; s != nil {
		return s, nil
	}
	return nil, refuse(NotFound, "meeting_space_id", "is not a meeting space of this building")
}

// devices are those of all spaces.
func (t *site) devices() (all []*device.Device) {
	for _, s := range t.order {
		all = append(all, s.devices...)
	}
	return all
}

// doors are those of all spaces, in order.
func (t *site) doors() (all []unlock.Door) {
	for _, s := range t.order {
		if d, ok := s.door(); ok {
			all = append(all, d)
		}
	}
	return all
}

// device is the one of that id, or nil.
func (t *site) device(id string) *device.Device { return t.known[id] }

// RoomAccess is who may say and hear what at the room broker, with the building
// as it is now.
func (a *Agent) RoomAccess() *roombroker.Access { return a.site.Load().room }

// spaces are those of the building now, in order.
func (a *Agent) spaces() []*space { return a.site.Load().order }

// find returns the space of that id, or nil.
func (a *Agent) find(id string) *space { return a.site.Load().byID[id] }

// space returns the space of that id, or a refusal.
func (a *Agent) space(id string) (*space, error) { return a.site.Load().space(id) }

// has says whether the device is in use here: it was not removed, and no other
// came in its place.
func (a *Agent) has(d *device.Device) bool { return a.site.Load().device(d.ID) == d }

// crew runs a loop for each part of the building until ctx ends or a loop
// fails, also for the parts that come meanwhile. The loops of those that go end
// first, so that what comes in their place finds its lines free.
func crew[T comparable](ctx context.Context, a *Agent, parts func(*site) []T, run func(context.Context, T) error) error {
	return loop.ForEach(ctx, func() ([]T, <-chan struct{}) {
		rebuilt := a.rebuilt.Wait()
		return parts(a.site.Load()), rebuilt
	}, run)
}

func spacesOf(t *site) []*space          { return t.order }
func devicesOf(t *site) []*device.Device { return t.devices() }

// runDevice runs a device until ctx ends. It always returns nil: a broken device
// must not end the building.
func (a *Agent) runDevice(ctx context.Context, d *device.Device) error {
	d.Run(ctx)
	if !a.has(d) {
		d.Remove()
	}
	return nil
}

// titleOf is a device in words that a person finds it by.
func (a *Agent) titleOf(d *device.Device) string {
	if s := a.find(d.SpaceID); s != nil {
		return d.Type + " in " + s.Name
	}
	return d.Type + " " + d.ID
}

// infoOf is a device with the name of its space.
func (a *Agent) infoOf(d *device.Device) device.Info {
	name := ""
	if s := a.find(d.SpaceID); s != nil {
		name = s.Name
	}
	return d.Info(name)
}

// deviceByID returns a device of the building, or a refusal.
func (a *Agent) deviceByID(id string) (*device.Device, error) {
	if d := a.site.Load().device(id); d != nil {
		return d, nil
	}
	return nil, refuse(NotFound, "device_id", "is not a device of this building")
}

// SetDevice stores what is changed of a device: see device.Device.Change.
func (a *Agent) SetDevice(ctx context.Context, id string, change device.Settings, reset bool, by string) (device.Info, error) {
	if err := a.builders.Lock(ctx); err != nil {
		return device.Info{}, err
	}
	defer a.builders.Unlock()
	d, err := a.deviceByID(id)
	if err != nil {
		return device.Info{}, err
	}
	if err := d.Change(ctx, change, reset, by); err != nil {
		return device.Info{}, err
	}
	return a.infoOf(d), nil
}

// Status returns the reading of one device, or of a sub-device if sub is not
// empty. It takes no lock and touches no disk.
func (a *Agent) Status(spaceID, deviceType, sub string) (device.Reading, error) {
	d, err := a.Device(spaceID, deviceType)
	if err != nil {
		return device.Reading{}, err
	}
	return d.Status(sub)
}

// StatusAll returns the readings of every device and sub-device of a space,
// in the order of the configuration.
func (a *Agent) StatusAll(spaceID string) ([]device.Reading, error) {
	s, err := a.space(spaceID)
	if err != nil {
		return nil, err
	}
	var all []device.Reading
	for _, d := range s.devices {
		all = append(all, d.Readings()...)
	}
	return all, nil
}
