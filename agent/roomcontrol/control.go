// Package roomcontrol is what the devices of a room do by its schedule: door,
// buzzer, ring light, light and fan, as config.Follow says.
//
// It is one more who gives commands: they go through the same lane, receipts and
// log as everybody's. It looks at how things are, never at what it once
// commanded: it stores nothing and makes up for nothing. So a restart, a device
// that comes back and a clock that is set need no rules of their own beyond those
// that the ring, the light, the door and the buzzer state.
package roomcontrol

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"roomgate/agent/clock"
	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/schedule"
	"roomgate/drivers"
)

// step is how often a room is compared with its schedule, and so the least time
// between two commands of the schedule to one device.
const step = time.Second

// Options are what the control of one room stands on.
type Options struct {
	Clock *clock.Clock
	Log   *slog.Logger

	Room   *schedule.Room // what is booked in it
	Follow config.Follow  // which of its devices follow that
	// Device is the room's device of a type; nil: it has none.
	Device func(deviceType string) *device.Device
	// Presence is what is known of people in the room: schedule.Occupied, Vacant
	// or Unknown.
	Presence func() string
	// Do gives a command and waits for its outcome.
	Do func(context.Context, device.Command) (device.Receipt, error)
	// Changed receives when the state of the room or of a device has changed.
	Changed <-chan struct{}
	// UnsignedAllowed says whether a word of the cloud that is not signed may let somebody in.
	UnsignedAllowed func() bool
}

// Run lets the devices of a room follow its schedule until ctx ends. It always
// returns nil: a device that does not follow must not end the building.
func Run(ctx context.Context, o Options) error {
	if c := newControl(o); len(c.actuators) > 0 {
		c.run(ctx)
	}
	return nil
}

// control makes the devices of one room follow its schedule. All but the
// commands under way belongs to its loop.
type control struct {
	Options
	log       *slog.Logger
	actuators []*actuator

	looked   bool      // at least once
	presence string    // what was last seen
	since    time.Time // since when
	// commanded is when a device last got a command of the schedule.
	commanded map[*device.Device]time.Time

	running  sync.WaitGroup
	outcomes chan outcome
}

func newControl(o Options) *control {
	c := &control{Options: o, log: o.Log.With("meeting_space", o.Room.Name()),
		commanded: map[*device.Device]time.Time{}, outcomes: make(chan outcome)}
	f := o.Follow
	c.add(f.Door, drivers.TypeLock, "", func(*device.Device) behavior { return newDoor(f.OffAfter) })
	c.add(f.Beep, drivers.TypeO3, drivers.SubBuzzer, func(*device.Device) behavior { return &buzzer{room: o.Room} })
	c.add(f.Ring, drivers.TypeO3, drivers.SubRing, func(d *device.Device) behavior { return &ring{device: d} })
	c.add(f.Light, drivers.TypeLight, "", func(d *device.Device) behavior { return &light{device: d, offAfter: f.OffAfter} })
	c.add(f.Fan, drivers.TypeFan, "", func(d *device.Device) behavior { return &light{device: d, offAfter: f.OffAfter} })
	return c
}

// add controls a device, if it is to follow and there is one.
func (c *control) add(follows bool, deviceType, sub string, by func(*device.Device) behavior) {
	if !follows {
		return
	}
	if d := c.Device(deviceType); d != nil {
		c.actuators = append(c.actuators, &actuator{device: d, sub: sub, behavior: by(d)})
	}
}

// run follows until ctx ends. Commands are waited for beside the loop: a device
// that hangs keeps no other waiting.
func (c *control) run(ctx context.Context) {
	defer c.running.Wait()
	tick := time.NewTicker(step)
	defer tick.Stop()
	for {
		c.turn(ctx, c.look(c.Clock.Now()))
		select {
		case <-ctx.Done():
			return
		case o := <-c.outcomes:
			c.end(o)
		case <-c.Changed:
		case <-tick.C:
		}
	}
}

// turn lets each device do what is due.
func (c *control) turn(ctx context.Context, v view) {
	for _, a := range c.actuators {
		r, ok := a.device.Reading(a.sub)
		if !ok {
			continue
		}
		a.behavior.observe(v, r)
		if r.Offline() {
			a.lose(v.now)
			continue
		}
		i := a.ask(v, r)
		if i.action == "" || v.now.Sub(c.commanded[a.device]) < step {
			continue
		}
		if err := c.takes(a, i); err != nil {
			c.cannot(a, i, err)
			continue
		}
		c.commanded[a.device] = v.now
		c.give(ctx, a, i)
	}
}
