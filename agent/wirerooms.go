package agent

import (
	"sync/atomic"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/agent/roomcontrol"
	"roomgate/agent/rule/doubt"
	"roomgate/agent/rule/engine"
	"roomgate/agent/schedule"
	"roomgate/agent/site"
	"roomgate/agent/unlock"
	"roomgate/drivers"
	"roomgate/store"
)

// scheduleOptions open the schedules of the meeting spaces.
func scheduleOptions(a *Agent) schedule.Options {
	return schedule.Options{DB: a.db, Events: a.Events, Clock: a.clock.Clock, Keys: a.keys, Log: a.options.Log,
		Calendars: a.options.Calendars, Policy: a.options.reach(a.options.Config.Calendars.Policy(a.options.AllowLoopback)),
		Presence: func(spaceID string) (schedule.Presence, bool) { return a.Site.Presence(spaceID) },
		Owner:    ownerOf(a),
		Notices: func(r *schedule.Room, gone []booking.Booking) eventlog.Stage {
			return a.Messages.Notify(bookingNotices(r, gone)...)
		},
		Changed: func(spaceID string) { a.Site.Changed(spaceID) },
		Asked:   func(spaceID string) { a.Site.Ask(spaceID) }}
}

// ownerOf asks whose a space is; it is for nouns that are opened before the site.
func ownerOf(a *Agent) func(spaceID string) (organization string, err error) {
	return func(id string) (string, error) { return a.Site.OrganizationOf(id) }
}

// roomControlOptions are what the control of a space by its schedule stands on.
func roomControlOptions(a *Agent, s *site.Space) roomcontrol.Options {
	return roomcontrol.Options{Clock: a.clock.Clock, Log: a.options.Log, Room: s.Room, Follow: s.Config.Follow,
		Device: s.OfType, Presence: func() string { return s.Presence().Value },
		Do: a.Commands.Do, Changed: s.Stirred,
		UnsignedAllowed: a.signers.UnsignedAllowed}
}

// commandsOptions are what the commands of all devices stand on.
func commandsOptions(a *Agent) device.CommandsOptions {
	return device.CommandsOptions{DB: a.db, Events: a.Events, Clock: a.clock.Clock, Log: a.options.Log, TTL: a.options.Config.Cloud.CommandTTL,
		Find:     func(spaceID, deviceType string) (*device.Device, error) { return a.Site.Device(spaceID, deviceType) },
		Starting: func(c device.Command) { a.marks.Starting(c) },
		Done:     func(c device.Command, began time.Time) { a.marks.Done(c, began) },
		Stored: func(tx *store.Tx, c device.Command, over bool) error {
			if a.marks == nil { // the command is of the process before this one
				return nil
			}
			return a.marks.Stored(tx, c, over)
		},
		Counters: func() device.Counters { return a.signers.Counters() }}
}

// siteOptions are what the meeting spaces and devices stand on.
func siteOptions(a *Agent) site.Options {
	return site.Options{
		DB: a.db, Events: a.Events, Clock: a.clock.Clock, Keys: a.keys, Log: a.options.Log, Config: a.options.Config, Buses: a.options.Buses,
		Commands: a.Commands, Bookings: a.Bookings, Claimed: a.Claim.Organization, Entered: a.Unlock.Typed,
	}
}

// unlockOptions are what the codes of the doors stand on.
func unlockOptions(a *Agent) unlock.Options {
	return unlock.Options{
		DB: a.db, Events: a.Events, Clock: a.clock.Clock, Keys: a.keys, Commands: a.Commands, Log: a.options.Log, Moment: moment(a), UnsignedAllowed: a.signers.UnsignedAllowed,
		Owner: ownerOf(a),
		Door: func(spaceID string) (unlock.Door, error) {
			s, err := a.Site.Space(spaceID)
			if err != nil {
				return unlock.Door{}, err
			}
			d, ok := doorOf(s)
			if !ok {
				return unlock.Door{}, problem.New(problem.NotFound, "meeting_space_id", "is a meeting space without a lock")
			}
			return d, nil
		},
		Doors: func() ([]unlock.Door, <-chan struct{}) {
			replaced := a.Site.Replaced()
			return doors(a.Site.Now()), replaced
		},
	}
}

// doorOf is the lock of a space, if it has one.
func doorOf(s *site.Space) (d unlock.Door, ok bool) {
	lock := s.OfType(drivers.TypeLock)
	return unlock.Door{Space: s.Name, Lock: lock, Room: s.Room}, lock != nil
}

// doors are those of all spaces, in order.
func doors(x *site.Index) (all []unlock.Door) {
	for _, s := range x.Spaces() {
		if d, ok := doorOf(s); ok {
			all = append(all, d)
		}
	}
	return all
}

// doubtOptions are what the marks of doubt stand on.
func doubtOptions(a *Agent) doubt.Options {
	return doubt.Options{DB: a.db, Unsure: a.Commands.Unsure,
		Devices: func() []*device.Device { return a.Site.Now().Devices() },
		Schedule: func(spaceID string) bool {
			s := a.Site.Find(spaceID)
			if s == nil {
				return false
			}
			booked := s.Room.Bookings()
			return booked.Vouched() != booked
		}}
}

// ruleOptions are what the rules stand on.
func ruleOptions(a *Agent) engine.Options {
	var last atomic.Pointer[ruled] // an event asks for it several times
	return engine.Options{DB: a.db, Events: a.Events, Keys: a.keys, Clock: a.clock.Clock, Log: a.options.Log, Commands: a.Commands, Messages: a.Messages, Marks: a.marks,
		Booking: a.Bookings.Get, Ready: a.Health.Ready, Owner: ownerOf(a),
		UnsignedAllowed: a.signers.UnsignedAllowed,
		Doubted:         func(id string) bool { return a.CloudConfig.Doubted(id) },
		Site: func() *engine.Site {
			x := a.Site.Now()
			if r := last.Load(); r != nil && r.of == x {
				return r.site
			}
			r := &ruled{x, ruledSite(x)}
			last.Store(r)
			return r.site
		}}
}

// ruled is the site as rules see it, and of what it was made.
type ruled struct {
	of   *site.Index
	site *engine.Site
}

// ruledSite are the meeting spaces as rules see them.
func ruledSite(x *site.Index) *engine.Site {
	all := make([]*engine.Space, len(x.Spaces()))
	for i, s := range x.Spaces() {
		all[i] = &engine.Space{Room: s.Room, Devices: s.Devices, Device: s.Device}
	}
	return engine.NewSite(all...)
}
