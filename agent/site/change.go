package site

import (
	"reflect"
	"slices"
	"time"

	"roomgate/agent/access"
	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/schedule"
	"roomgate/store"
)

// Change is a change of the site that was checked and not yet made. It holds the
// rooms that change until its stage is released.
type Change struct {
	Next *Index // the site as it will be

	site      *Site
	by        string
	file      *config.Config       // that will be in force
	overrides map[string]*override // all that there will be
	edits     map[string]*override // what is written; nil: taken away
	was       *Index
	rooms     *schedule.Swap
}

// Stage is the change for a commit, alone or as a part of a larger one. Its Release
// must be called in any case; a commit does.
func (c *Change) Stage() eventlog.Stage {
	return eventlog.Stage{Write: c.write, Show: c.show, Release: c.rooms.Release}
}

// build makes the next site. Spaces and devices that do not change are kept.
func (c *Change) build(tx *store.Tx, spaces []config.Space) error {
	var order []*Space
	for _, sc := range spaces {
		old := c.was.byID[sc.ID]
		var s *Space
		var err error
		if old == nil {
			s, err = c.site.loadSpace(tx, sc, c.rooms.Room(sc.ID))
		} else {
			s, err = c.reconfigure(tx, old, sc)
		}
		if err != nil {
			return err
		}
		order = append(order, s)
	}
	c.Next = newIndex(c.site.o.Config, order, c.overrides)
	return nil
}

// reconfigure is a space as it is configured now: itself, or another one in its
// place.
func (c *Change) reconfigure(tx *store.Tx, old *Space, sc config.Space) (*Space, error) {
	s := newSpace(sc, old.lasting, c.site.o.Clock)
	for _, dc := range sc.Devices {
		i := slices.IndexFunc(old.Devices, func(d *device.Device) bool { return d.ID == dc.ID && reflect.DeepEqual(d.Device, dc) })
		if i >= 0 {
			s.add(old.Devices[i])
			continue
		}
		d, err := c.site.loadDevice(tx, s, dc)
		if err != nil {
			return nil, err
		}
		d.Excuse() // the building stays ready
		s.add(d)
	}
	if slices.Equal(s.Devices, old.Devices) && sameSpace(old, s) {
		return old, nil
	}
	return s, nil
}

// sameSpace says whether two spaces are configured alike, whatever their devices.
func sameSpace(x, y *Space) bool {
	bare := func(s *Space) config.Space { c := s.Config; c.Devices = nil; return c }
	return reflect.DeepEqual(bare(x), bare(y))
}

func (c *Change) write(tx *store.Tx) error {
	for key, one := range c.edits {
		if err := c.site.storeOverride(tx, key, one); err != nil {
			return err
		}
	}
	if err := c.rooms.Write(tx); err != nil {
		return err
	}
	if err := c.forget(tx); err != nil {
		return err
	}
	for _, s := range c.Next.order {
		if err := access.EnsureOrganization(tx, s.Config.Organization()); err != nil {
			return err
		}
	}
	return c.tell(tx)
}

// forget deletes what is stored of devices that go.
func (c *Change) forget(tx *store.Tx) error {
	for _, d := range c.was.Devices() {
		if c.Next.Device(d.ID) != nil {
			continue
		}
		if err := device.Delete(tx, d.ID); err != nil {
			return err
		}
	}
	return nil
}

// tell writes down what comes, changes and goes.
func (c *Change) tell(tx *store.Tx) error {
	push := func(line eventlog.Row) error { return c.site.o.Events.Push(tx, line) }
	by := map[string]any{"by": c.by}
	now := time.Now()
	for _, d := range c.was.Devices() {
		if c.Next.Device(d.ID) == nil {
			if err := push(d.Event(eventDeviceRemoved, "", now, by)); err != nil {
				return err
			}
		}
	}
	for _, d := range c.Next.Devices() {
		kind := device.EventChanged
		switch was := c.was.Device(d.ID); was {
		case d:
			continue
		case nil:
			kind = eventDeviceCreated
		}
		if err := push(d.Event(kind, "", now, by)); err != nil {
			return err
		}
	}
	return c.tellSpaces(func(kind string, s *Space) error {
		return c.site.o.Events.Tell(tx, eventlog.Record{Type: kind, Time: now, Space: s.ID, Device: eventlog.SpaceDevice, Details: map[string]any{"by": c.by, "name": s.Name}})
	})
}

func (c *Change) tellSpaces(push func(kind string, s *Space) error) error {
	for _, s := range c.was.order {
		if c.Next.byID[s.ID] == nil {
			if err := push(eventSpaceRemoved, s); err != nil {
				return err
			}
		}
	}
	for _, s := range c.Next.order {
		kind := eventSpaceChanged
		switch was := c.was.byID[s.ID]; {
		case was == nil:
			kind = eventSpaceCreated
		case sameSpace(was, s):
			continue
		}
		if err := push(kind, s); err != nil {
			return err
		}
	}
	return nil
}

// show lets the next site take effect.
func (c *Change) show() {
	s := c.site
	c.rooms.Show()
	s.overrides, s.file = c.overrides, c.file
	s.now.Store(c.Next)
	s.replaced.Wake()
	c.rooms.Announce()
}
