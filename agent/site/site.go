package site

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/clock"
	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	"roomgate/agent/roombroker"
	"roomgate/agent/schedule"
	"roomgate/drivers"
	"roomgate/store"
)

// Options are what the site stands on.
type Options struct {
	DB       *store.DB
	Events   *eventlog.Log
	Clock    *clock.Clock
	Keys     *auth.Keys // seal the overrides: the options of a device may hold a password
	Log      *slog.Logger
	Config   *config.Config // the file that the building starts with
	Buses    drivers.Buses
	Commands *device.Commands
	Bookings *schedule.Book // Open loads the rooms into it
	// Claimed is the organization that has claimed the gateway; empty: none has.
	Claimed func() string
	// Entered takes what somebody has typed at a device; true: it is right.
	Entered func(deviceID string, typed drivers.Secret) bool
}

// Site is the meeting spaces and devices of the building.
type Site struct {
	o        Options
	now      atomic.Pointer[Index]
	replaced loop.Broadcast // now is another
	turn     loop.Turn      // holds a token while somebody changes the site

	// The holder of the turn owns the fields below.
	overrides map[string]*override
	file      *config.Config // its spaces and users may be newer than those of Options
}

// Open makes the spaces and devices of the configuration and of the overrides, with
// what was last known of them. It touches no hardware: that is Run's.
func Open(_ context.Context, o Options) (*Site, error) {
	s := &Site{o: o, turn: loop.NewTurn(), file: o.Config}
	// Each has a transaction of its own, as that remembers a damaged row, and everybody would take it for his.
	err := o.DB.View(func(tx *store.Tx) error { s.loadOverrides(tx); return nil })
	if err != nil {
		return nil, err
	}
	err = o.DB.View(func(tx *store.Tx) error {
		spaces := s.layStored()
		if err := o.Bookings.Load(tx, spaces); err != nil {
			return err
		}
		var order []*Space
		for _, c := range spaces {
			one, err := s.loadSpace(tx, c, o.Bookings.Room(c.ID))
			if err != nil {
				return err
			}
			order = append(order, one)
		}
		s.now.Store(newIndex(o.Config, order, s.overrides))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Run runs every device until ctx ends, also those that come meanwhile. The loops of
// devices that go end first, so that what comes in their place finds its lines free.
func (s *Site) Run(ctx context.Context) error {
	return loop.ForEach(ctx, func() ([]*device.Device, <-chan struct{}) {
		replaced := s.Replaced()
		return s.Now().Devices(), replaced
	}, s.runDevice)
}

// runDevice runs a device until ctx ends. It always returns nil: a broken device
// must not end the building.
func (s *Site) runDevice(ctx context.Context, d *device.Device) error {
	d.Run(ctx)
	if s.Now().Device(d.ID) != d { // it was removed, or another came in its place
		d.Remove()
	}
	return nil
}

// ForEach runs a loop for each meeting space until ctx ends or a loop fails, also
// for those that come meanwhile; the loops of those that go end first. A space whose
// configuration changes ends its loop and gets another.
func (s *Site) ForEach(ctx context.Context, run func(context.Context, *Space) error) error {
	return loop.ForEach(ctx, func() ([]*Space, <-chan struct{}) {
		replaced := s.Replaced()
		return s.Now().Spaces(), replaced
	}, run)
}

// Now is the site as it is at this moment.
func (s *Site) Now() *Index { return s.now.Load() }

// Replaced returns a channel that is closed when the site changes. Take it before
// Now, or a change is missed.
func (s *Site) Replaced() <-chan struct{} { return s.replaced.Wait() }

// Spaces are the meeting spaces now, see [Index.Spaces].
func (s *Site) Spaces() []*Space { return s.Now().Spaces() }

// Find returns the space of that id, or nil.
func (s *Site) Find(spaceID string) *Space { return s.Now().Find(spaceID) }

// Space returns the space of that id, or a refusal.
func (s *Site) Space(id string) (*Space, error) { return s.Now().space(id) }

// RoomAccess is who may say and hear what at the room broker, with the building
// as it is now.
func (s *Site) RoomAccess() *roombroker.Access { return s.Now().room }

// PageBeat says that the page of a space's room display is alive. It takes the
// page's answers and returns its open commands.
func (s *Site) PageBeat(spaceID string, done []drivers.PageDone) ([]drivers.PageCommand, error) {
	if _, err := s.Space(spaceID); err != nil {
		return nil, err
	}
	return s.o.Buses.Page(spaceID).Beat(time.Now(), done...), nil
}
