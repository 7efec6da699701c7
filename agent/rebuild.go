package agent

import (
	"context"
	"maps"
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

// rebuild is a change of the site that was checked and not yet made: store
// writes it, show lets it take effect, release must be called in any case.
type rebuild struct {
	agent     *Agent
	by        string
	additions map[string]*addition // all that there will be
	edits     map[string]*addition // what is written; nil: taken away
	next      *site
	was       *site
	rooms     *schedule.Swap
}

// stageSite checks edits of the additions over a configuration file, by key; nil
// takes one away. names are what errors call them. The caller has the turn of
// the site.
func (a *Agent) stageSite(ctx context.Context, file *config.Config, edits map[string]*addition, names map[string]string, by string) (*rebuild, error) {
	r := &rebuild{agent: a, by: by, edits: edits, additions: maps.Clone(a.additions), was: a.site.Load()}
	for key, p := range edits {
		if p == nil {
			delete(r.additions, key)
		} else {
			r.additions[key] = p
		}
	}
	if len(r.additions) > maxAdditions {
		return nil, refuse(Full, "", "%d spaces and devices would be laid over the configuration, at most %d can: remove some", len(r.additions), maxAdditions)
	}
	var lay []config.Part
	for _, key := range slices.Sorted(maps.Keys(r.additions)) {
		lay = append(lay, r.additions[key].laid(names[key]))
	}
	spaces, err := file.Lay(lay...)
	if err != nil {
		return nil, layError(err)
	}
	if r.rooms, err = a.Bookings.Stage(ctx, spaces); err != nil {
		return nil, err
	}
	if err := a.db.View(func(tx *store.Tx) error { return r.build(tx, spaces) }); err != nil {
		r.release()
		return nil, err
	}
	return r, nil
}

// build makes the next site; what stays as it was is the same.
func (r *rebuild) build(tx *store.Tx, spaces []config.Space) error {
	var order []*space
	for _, c := range spaces {
		old := r.was.byID[c.ID]
		var s *space
		var err error
		if old == nil {
			s, err = r.agent.loadSpace(tx, c, r.rooms.Room(c.ID))
		} else {
			s, err = r.renew(tx, old, c)
		}
		if err != nil {
			return err
		}
		order = append(order, s)
	}
	r.next = newSite(r.agent.config, order)
	return nil
}

// renew is a space as it is configured now: itself, or another one in its place.
func (r *rebuild) renew(tx *store.Tx, old *space, c config.Space) (*space, error) {
	s := newSpace(c, old.lasting, r.agent.clock.Clock)
	for _, dc := range c.Devices {
		i := slices.IndexFunc(old.devices, func(d *device.Device) bool { return d.ID == dc.ID && reflect.DeepEqual(d.Device, dc) })
		if i >= 0 {
			s.add(old.devices[i])
			continue
		}
		d, err := r.agent.loadDevice(tx, s, dc)
		if err != nil {
			return nil, err
		}
		d.Excuse() // the building stays ready
		s.add(d)
	}
	if slices.Equal(s.devices, old.devices) && reflect.DeepEqual(bare(c), bare(old.Space)) {
		return old, nil
	}
	return s, nil
}

// bare is a space without its devices.
func bare(c config.Space) config.Space { c.Devices = nil; return c }

func (r *rebuild) store(tx *store.Tx) error {
	a := r.agent
	for key, p := range r.edits {
		if err := a.storeAddition(tx, key, p); err != nil {
			return err
		}
	}
	if err := r.rooms.Write(tx); err != nil {
		return err
	}
	if err := r.forget(tx); err != nil {
		return err
	}
	for _, s := range r.next.order {
		if err := access.EnsureOrganization(tx, s.Organization()); err != nil {
			return err
		}
	}
	return r.tell(tx)
}

// forget deletes what is stored of devices that go.
func (r *rebuild) forget(tx *store.Tx) error {
	for _, d := range r.was.devices() {
		if r.next.device(d.ID) != nil {
			continue
		}
		if err := device.Delete(tx, d.ID); err != nil {
			return err
		}
	}
	return nil
}

// tell writes down what comes, changes and goes.
func (r *rebuild) tell(tx *store.Tx) error {
	push := func(line eventlog.Row) error { return r.agent.Events.Push(tx, line) }
	by := map[string]any{"by": r.by}
	now := time.Now()
	for _, d := range r.was.devices() {
		if r.next.device(d.ID) == nil {
			if err := push(d.Event("deviceRemoved", "", now, by)); err != nil {
				return err
			}
		}
	}
	for _, d := range r.next.devices() {
		kind := "deviceChanged"
		switch was := r.was.device(d.ID); was {
		case d:
			continue
		case nil:
			kind = "deviceCreated"
		}
		if err := push(d.Event(kind, "", now, by)); err != nil {
			return err
		}
	}
	return r.tellSpaces(func(kind string, s *space) error {
		return r.agent.Events.Tell(tx, eventlog.Record{Type: kind, Time: now, Space: s.ID, Device: eventlog.SpaceDevice, Details: map[string]any{"by": r.by, "name": s.Name}})
	})
}

func (r *rebuild) tellSpaces(push func(kind string, s *space) error) error {
	for _, s := range r.was.order {
		if r.next.byID[s.ID] == nil {
			if err := push("spaceRemoved", s); err != nil {
				return err
			}
		}
	}
	for _, s := range r.next.order {
		kind := "spaceChanged"
		switch was := r.was.byID[s.ID]; {
		case was == nil:
			kind = "spaceCreated"
		case reflect.DeepEqual(bare(s.Space), bare(was.Space)):
			continue
		}
		if err := push(kind, s); err != nil {
			return err
		}
	}
	return nil
}

// show lets the next site take effect.
func (r *rebuild) show() {
	a := r.agent
	r.rooms.Show()
	a.additions = r.additions
	a.site.Store(r.next)
	a.rebuilt.Wake()
	r.rooms.Announce()
}

func (r *rebuild) release() { r.rooms.Release() }

// stage is the change as a part of a larger one.
func (r *rebuild) stage() eventlog.Stage {
	return eventlog.Stage{Write: r.store, Show: r.show, Release: r.release}
}

// changeSite checks, stores and shows edits of the additions. The caller has the
// turn of the site.
func (a *Agent) changeSite(ctx context.Context, edits map[string]*addition, by string) error {
	r, err := a.stageSite(ctx, a.file, edits, nil, by)
	if err != nil {
		return err
	}
	if err := a.Events.Commit(ctx, r.stage()); err != nil {
		return err
	}
	return a.Bookings.NoteNewSpaces(ctx)
}
