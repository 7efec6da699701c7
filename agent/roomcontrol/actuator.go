package roomcontrol

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"roomgate/agent/device"
)

const (
	// commandLife is how long a command of the schedule is valid: it is for now,
	// and is given again if it is still wanted.
	commandLife = 10 * time.Second
	// usualTries is how often a command is given that fails.
	usualTries = 6
	// The pause between two tries doubles from the one to the other.
	firstRetry, lastRetry = 2 * time.Second, 10 * time.Minute
	// comebackPause is the least time between a command and the same one again
	// because the device was offline meanwhile: one with a loose contact is not
	// showered.
	comebackPause = 10 * time.Second
)

// behavior decides what one device or sub-device does as the schedule goes on.
type behavior interface {
	// observe is called each time, also while the device is offline.
	observe(v view, r device.Reading)
	// intend is what to command now; it is asked only while the device is online.
	intend(v view, r device.Reading) intent
	// fulfilled says that the intent was carried out.
	fulfilled(i intent, at time.Time)
	// lost says that the device is offline.
	lost()
}

// intent is a command that the schedule wants to give.
type intent struct {
	action string // empty: none
	value  json.RawMessage
	goal   string // what for: a new goal gets new tries
	tries  int    // how often at most; 0: usualTries
	always bool   // never given up
	once   bool   // fulfilled when it is given, whatever comes of it
}

// actuator gives the commands of one behavior.
type actuator struct {
	device   *device.Device
	sub      string
	behavior behavior

	busy   bool // a command is under way
	goal   string
	failed int // tries for the goal
	last   time.Time
	next   time.Time // not before
	logged bool      // the log says that it does not follow
}

// outcome is that of a command of the schedule.
type outcome struct {
	*actuator
	intent intent
	err    error
}

// ask returns what is to be commanded now.
func (a *actuator) ask(v view, r device.Reading) intent {
	if a.busy {
		return intent{}
	}
	i := a.behavior.intend(v, r)
	if i.tries == 0 {
		i.tries = usualTries
	}
	if i.action != "" && i.goal != a.goal {
		a.goal, a.failed, a.next = i.goal, 0, time.Time{}
	}
	if a.failed >= i.tries && !i.always || v.now.Before(a.next) {
		return intent{}
	}
	return i
}

// lose forgets what was tried at a device that is offline: commands wait until
// it is back.
func (a *actuator) lose(now time.Time) {
	a.behavior.lost()
	a.failed = 0
	if !a.last.IsZero() {
		a.next = latest(a.next, a.last.Add(comebackPause))
	}
}

func (c *control) command(a *actuator, i intent) device.Command {
	return device.Command{Space: c.Room.ID, DeviceType: a.device.Type, SubDevice: a.sub, Action: i.action, Value: i.value,
		TTL: commandLife, Via: device.ViaSchedule, By: device.ViaSchedule}
}

// takes says whether the device takes such a command at all.
func (c *control) takes(a *actuator, i intent) error {
	_, err := a.device.Parse(c.command(a, i))
	return err
}

// cannot gives a goal up that the device is not made for, as a colour for a
// light without. One that was not opened yet is waited for.
func (c *control) cannot(a *actuator, i intent, err error) {
	if !a.device.Opened() {
		return
	}
	a.failed, a.next = i.tries, c.Clock.Now().Add(lastRetry)
	if !a.logged {
		a.logged = true
		c.log.Info("a device cannot do what the schedule wants of it", "device", a.device.ID, "sub_device", a.sub, "action", i.action, "error", err)
	}
}

// give gives a command, and hands its outcome to the loop.
func (c *control) give(ctx context.Context, a *actuator, i intent) {
	a.busy, a.last = true, c.Clock.Now()
	if i.once {
		a.behavior.fulfilled(i, a.last)
	}
	c.running.Go(func() {
		receipt, err := c.Do(ctx, c.command(a, i))
		if err == nil && receipt.State != device.Done {
			err = errors.New(receipt.Reason)
		}
		select {
		case c.outcomes <- outcome{a, i, err}:
		case <-ctx.Done():
		}
	})
}

// end takes the outcome of a command. The log hears of the first failure, of
// giving up, and when it works again: each try is an event of its own.
func (c *control) end(o outcome) {
	a, now := o.actuator, c.Clock.Now()
	a.busy = false
	log := c.log.With("device", a.device.ID, "sub_device", a.sub, "action", o.intent.action)
	if o.err == nil {
		if a.logged {
			log.Info("the device follows the schedule again")
		}
		a.failed, a.logged = 0, false
		if !o.intent.once {
			a.behavior.fulfilled(o.intent, now)
		}
		return
	}
	a.failed++
	a.next = now.Add(min(firstRetry<<min(a.failed-1, 10), lastRetry))
	switch {
	case o.intent.once, a.failed >= o.intent.tries && !o.intent.always:
		log.Warn("the device does not follow the schedule and is left as it is until something changes", "error", o.err)
	case !a.logged:
		log.Warn("the device does not follow the schedule, it is tried again", "error", o.err)
	}
	a.logged = true
}
