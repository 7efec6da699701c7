package agent

import (
	"context"

	"roomgate/agent/config"
	"roomgate/agent/loop"
	"roomgate/agent/roombroker"
)

// site is the meeting spaces and devices of the building as they are now.
// Readers take no lock; it is replaced whole, never changed.
type site struct {
	byID  map[string]*space
	known map[string]*device
	order []*space // the configuration's, then what came later
	room  *roombroker.Access
}

func newSite(c *config.Config, order []*space) *site {
	var all []roombroker.Device
	t := &site{byID: map[string]*space{}, known: map[string]*device{}, order: order}
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
func (t *site) devices() (all []*device) {
	for _, s := range t.order {
		all = append(all, s.devices...)
	}
	return all
}

// device is the one of that id, or nil.
func (t *site) device(id string) *device { return t.known[id] }

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
func (a *Agent) has(d *device) bool { return a.site.Load().device(d.ID) == d }

// crew runs a loop for each part of the building until ctx ends or a loop
// fails, also for the parts that come meanwhile. The loops of those that go end
// first, so that what comes in their place finds its lines free.
func crew[T comparable](ctx context.Context, a *Agent, parts func(*site) []T, run func(context.Context, T) error) error {
	return loop.ForEach(ctx, func() ([]T, <-chan struct{}) {
		rebuilt := a.rebuilt.Wait()
		return parts(a.site.Load()), rebuilt
	}, run)
}

func spacesOf(t *site) []*space   { return t.order }
func devicesOf(t *site) []*device { return t.devices() }
