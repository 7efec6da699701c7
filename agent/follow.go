package agent

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"roomgate/agent/device"
	"roomgate/drivers"
)

// followStep is how often a space is compared with its schedule, and so the
// least time between two orders of the schedule to one device.
const followStep = time.Second

// followSchedule lets the devices of a space follow its schedule until ctx ends, as config.Follow says. The schedule is one more who gives orders: they
// go through the same lane, receipts and log as everybody's.
//
// It looks at how things are, never at what once was ordered: nothing that it
// does is stored and nothing is made up for. So a restart, a device that comes
// back and a clock that is set need no rules of their own beyond those that the
// ring, the lamps, the door and the beep say.
func (a *Agent) followSchedule(ctx context.Context, s *space) error {
	if f := newFollower(a, s); len(f.hands) > 0 {
		f.run(ctx)
	}
	return nil
}

// follower makes the devices of one space follow its schedule. All but the
// orders under way belongs to its loop.
type follower struct {
	agent *Agent
	space *space
	log   *slog.Logger
	hands []*hand

	looked   bool      // at least once
	presence string    // what was last seen
	since    time.Time // since when
	gates    map[*device.Device]time.Time

	running sync.WaitGroup
	ended   chan ended
}

func newFollower(a *Agent, s *space) *follower {
	f := &follower{agent: a, space: s, log: a.log.With("meeting_space", s.Name),
		gates: map[*device.Device]time.Time{}, ended: make(chan ended)}
	c := s.Follow
	f.add(c.Door, drivers.TypeLock, "", func(*device.Device) rule { return newDoor(c.OffAfter) })
	f.add(c.Beep, drivers.TypeO3, drivers.SubBuzzer, func(*device.Device) rule { return &beep{space: s} })
	f.add(c.Ring, drivers.TypeO3, drivers.SubRing, func(d *device.Device) rule { return &ringLight{device: d} })
	f.add(c.Light, drivers.TypeLight, "", func(d *device.Device) rule { return &lamp{device: d, offAfter: c.OffAfter} })
	f.add(c.Fan, drivers.TypeFan, "", func(d *device.Device) rule { return &lamp{device: d, offAfter: c.OffAfter} })
	return f
}

// add takes a device in hand, if it is to follow and there is one.
func (f *follower) add(follows bool, deviceType, sub string, by func(*device.Device) rule) {
	if d := f.space.byType[deviceType]; follows && d != nil {
		f.hands = append(f.hands, &hand{device: d, sub: sub, rule: by(d)})
	}
}

// run follows until ctx ends. Orders are waited for beside the loop: a device
// that hangs keeps no other waiting.
func (f *follower) run(ctx context.Context) {
	defer f.running.Wait()
	tick := time.NewTicker(followStep)
	defer tick.Stop()
	for {
		f.turn(ctx, f.look(f.agent.Now()))
		select {
		case <-ctx.Done():
			return
		case e := <-f.ended:
			f.end(e)
		case <-f.space.stirred:
		case <-tick.C:
		}
	}
}

// turn lets each device do what is due.
func (f *follower) turn(ctx context.Context, v sight) {
	for _, h := range f.hands {
		r, ok := h.device.Reading(h.sub)
		if !ok {
			continue
		}
		h.rule.observe(v, r)
		if r.Offline() {
			h.lose(v.now)
			continue
		}
		w := h.ask(v, r)
		if w.action == "" || v.now.Sub(f.gates[h.device]) < followStep {
			continue
		}
		if err := h.takes(f.space, w); err != nil {
			f.cannot(h, w, err)
			continue
		}
		f.gates[h.device] = v.now
		f.give(ctx, h, w)
	}
}
