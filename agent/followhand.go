package agent

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"roomgate/agent/device"
)

const (
	// scheduleOrderLife is how long an order of the schedule is valid: it is
	// for now, and is given anew if it is still wanted.
	scheduleOrderLife = 10 * time.Second
	// usualTries is how often an order is given that fails.
	usualTries = 6
	// The pause between two tries doubles from the one to the other.
	firstRetry, lastRetry = 2 * time.Second, 10 * time.Minute
	// comebackPause is the least time between an order and the same one again
	// because the device was offline meanwhile: one with a loose contact is not
	// showered.
	comebackPause = 10 * time.Second
)

// rule decides what one device or sub-device does as the schedule goes on.
type rule interface {
	// observe is called each time, also while the device is offline.
	observe(v sight, r device.Reading)
	// wish is what to order now; it is asked only while the device is online.
	wish(v sight, r device.Reading) wish
	// granted says that the wish came true.
	granted(w wish, at time.Time)
	// lost says that the device is offline.
	lost()
}

// wish is an order that the schedule wants to give.
type wish struct {
	action string // empty: none
	value  json.RawMessage
	goal   string // what for: a new goal gets new tries
	tries  int    // how often at most; 0: usualTries
	always bool   // never given up
	once   bool   // granted when it is given, whatever comes of it
}

// hand gives the orders of one rule.
type hand struct {
	device *device.Device
	sub    string
	rule   rule

	busy   bool // an order is under way
	goal   string
	failed int // tries for the goal
	last   time.Time
	next   time.Time // not before
	told   bool      // the log says that it does not follow
}

// ended is an order of the schedule that is over.
type ended struct {
	*hand
	wish wish
	err  error
}

// ask returns what is to be ordered now.
func (h *hand) ask(v sight, r device.Reading) wish {
	if h.busy {
		return wish{}
	}
	w := h.rule.wish(v, r)
	if w.tries == 0 {
		w.tries = usualTries
	}
	if w.action != "" && w.goal != h.goal {
		h.goal, h.failed, h.next = w.goal, 0, time.Time{}
	}
	if h.failed >= w.tries && !w.always || v.now.Before(h.next) {
		return wish{}
	}
	return w
}

// lose forgets what was tried at a device that is offline: orders wait until it
// is back.
func (h *hand) lose(now time.Time) {
	h.rule.lost()
	h.failed = 0
	if !h.last.IsZero() {
		h.next = latest(h.next, h.last.Add(comebackPause))
	}
}

// takes says whether the device takes such an order at all.
func (h *hand) takes(s *space, w wish) error {
	_, err := h.device.Parse(h.command(s, w))
	return err
}

func (h *hand) command(s *space, w wish) device.Command {
	return device.Command{Space: s.ID, DeviceType: h.device.Type, SubDevice: h.sub, Action: w.action, Value: w.value,
		TTL: scheduleOrderLife, Via: device.ViaSchedule, By: device.ViaSchedule}
}

// cannot gives a goal up that the device is not made for, as a colour for a
// lamp without. One that was not opened yet is waited for.
func (f *follower) cannot(h *hand, w wish, err error) {
	if !h.device.Opened() {
		return
	}
	h.failed, h.next = w.tries, f.agent.Now().Add(lastRetry)
	if !h.told {
		h.told = true
		f.log.Info("a device cannot do what the schedule wants of it", "device", h.device.ID, "sub_device", h.sub, "action", w.action, "error", err)
	}
}

// give gives an order, and tells the loop how it ended.
func (f *follower) give(ctx context.Context, h *hand, w wish) {
	h.busy, h.last = true, f.agent.Now()
	if w.once {
		h.rule.granted(w, h.last)
	}
	f.running.Go(func() {
		receipt, err := f.agent.Commands.Do(ctx, h.command(f.space, w))
		if err == nil && receipt.State != device.Done {
			err = errors.New(receipt.Reason)
		}
		select {
		case f.ended <- ended{h, w, err}:
		case <-ctx.Done():
		}
	})
}

// end takes the outcome of an order. The log hears of the first failure, of
// giving up, and when it works again: each try is an event of its own.
func (f *follower) end(e ended) {
	h, now := e.hand, f.agent.Now()
	h.busy = false
	log := f.log.With("device", h.device.ID, "sub_device", h.sub, "action", e.wish.action)
	if e.err == nil {
		if h.told {
			log.Info("the device follows the schedule again")
		}
		h.failed, h.told = 0, false
		if !e.wish.once {
			h.rule.granted(e.wish, now)
		}
		return
	}
	h.failed++
	h.next = now.Add(min(firstRetry<<min(h.failed-1, 10), lastRetry))
	switch {
	case e.wish.once, h.failed >= e.wish.tries && !e.wish.always:
		log.Warn("the device does not follow the schedule and is left as it is until something changes", "error", e.err)
	case !h.told:
		log.Warn("the device does not follow the schedule, it is tried again", "error", e.err)
	}
	h.told = true
}

// jsonValue is the value of an order.
func jsonValue(v any) json.RawMessage {
	data, _ := json.Marshal(v) // strings and numbers only
	return data
}
