package agent

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"roomgate/agent/config"
	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	"roomgate/drivers"
)

const (
	// strikes is how many observations in a row may fail before a device
	// counts as offline.
	strikes = 3
	// maxPause bounds the pause between two tries at a device that is offline.
	maxPause = 30 * time.Second
	// orderTimeout is the least time that an order is given; some answer with
	// a picture.
	orderTimeout = 10 * time.Second
	// laneLength is how many orders may wait for one device.
	laneLength = 16
)

// device is one device of the building and the loop that alone talks to it.
type device struct {
	config.Device
	agent   *Agent
	spaceID string
	space   *lasting
	log     *slog.Logger

	known       atomic.Pointer[snapshot]            // what readers see
	description atomic.Pointer[drivers.Description] // nil until it was opened
	last        atomic.Pointer[storedCommand]       // the last order to it
	picture     atomic.Pointer[takenPicture]
	seen        atomic.Bool  // it had its first verdict
	tried       atomic.Bool  // it was opened since the start, or could not be
	gone        atomic.Bool  // it was removed, and its loop has ended
	moved       atomic.Int64 // unix nanoseconds of the loop's last turn

	terms   atomic.Pointer[deviceTerms]
	showing sync.Mutex // held by who sets known

	entered func(drivers.Secret) bool // takes what was typed at its keypad; false: it is no code but, say, a card

	lane   chan *order   // accepted orders, in order
	turned loop.Signal   // holds a token when the terms have changed
	kick   loop.Signal   // the hardware asks for a poll
	busy   chan struct{} // holds one token while a call is inside the driver

	before string // its own value when the process before this one ended; empty: none

	// What follows belongs to the loop.
	view    *view
	pause   time.Duration
	failing bool // the last try failed, and the log says so already
}

type takenPicture struct {
	picture *drivers.Picture
	at      time.Time
}

func newDevice(a *Agent, s *space, c config.Device, stored []storedReading, entered func(drivers.Secret) bool) *device {
	d := &device{
		Device: c, agent: a, spaceID: s.ID, space: s.lasting,
		log:     a.log.With("meeting_space", s.Name, "device", c.ID),
		entered: entered,
		lane:    make(chan *order, laneLength),
		turned:  loop.NewSignal(),
		kick:    loop.NewSignal(),
		busy:    make(chan struct{}, 1),
	}
	d.terms.Store(&deviceTerms{Device: c})
	for _, s := range stored {
		if s.Sub == "" {
			d.before = s.Value
		}
	}
	d.view = newView(d, stored)
	d.show(d.view.snapshot(time.Time{}, "not observed since the start"))
	return d
}

// describe is the device as data; before it was opened that is its type only.
func (d *device) describe() drivers.Description {
	if known := d.description.Load(); known != nil {
		return *known
	}
	return drivers.Description{Type: d.Type, Driver: d.Driver, Summary: "not opened yet: " + d.known.Load().readings[0].Reason}
}

// title is the device in words that a person finds it by.
func (d *device) title() string {
	if s := d.agent.find(d.spaceID); s != nil {
		return d.Type + " in " + s.Name
	}
	return d.Type + " " + d.ID
}

// runDevice opens a device and serves it until ctx ends. It always returns nil:
// a broken device must not end the building. Orders for one that was removed
// are refused.
func (a *Agent) runDevice(ctx context.Context, d *device) error {
	d.run(ctx)
	if !a.has(d) {
		d.gone.Store(true)
		d.turnAway()
	}
	return nil
}

// turnAway refuses what waits for a device that was removed.
func (d *device) turnAway() {
	for {
		select {
		case o := <-d.lane:
			d.finish(o, nil, refuse(NotFound, "device_type", "was removed from this meeting space"))
		default:
			return
		}
	}
}

func (d *device) run(ctx context.Context) {
	for ctx.Err() == nil {
		if !d.live().Enabled {
			d.rest(ctx)
			continue
		}
		driver, err := call(ctx, d, orderTimeout, func(ctx context.Context) (drivers.Driver, error) {
			return d.Options.Open(ctx, d.agent.options.Buses)
		})
		if err != nil {
			d.lost(err)
			d.tried.Store(true)
			d.idle(ctx, d.backOff())
			continue
		}
		description := driver.Describe()
		d.description.Store(&description)
		d.tried.Store(true)
		d.serve(ctx, driver)
		d.close(driver)
	}
}

// idle waits, refusing the orders that come meanwhile.
func (d *device) idle(ctx context.Context, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		d.moved.Store(time.Now().UnixNano())
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			return
		case <-d.turned:
			return
		case o := <-d.lane:
			d.finish(o, nil, refuse(Unavailable, "", "device is not opened: %s", d.known.Load().readings[0].Reason))
		}
	}
}

// serve polls, obeys and listens until ctx ends or the device is disabled.
func (d *device) serve(ctx context.Context, driver drivers.Driver) {
	ctx, stop := context.WithCancel(ctx)
	watched := d.watch(ctx, driver)
	defer func() { stop(); d.leave(watched) }()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		d.moved.Store(time.Now().UnixNano())
		select {
		case <-ctx.Done():
		case <-d.turned:
			if !d.live().Enabled {
				return
			}
			timer.Reset(0)
		case o := <-d.lane:
			d.obey(ctx, driver, o)
		case <-d.kick:
			timer.Reset(d.poll(ctx, driver))
		case <-timer.C:
			timer.Reset(d.poll(ctx, driver))
		}
	}
}

// leave waits for the watch to end, but not for ever: a stuck line must not keep
// the building from stopping.
func (d *device) leave(watched <-chan struct{}) {
	late := time.NewTimer(d.Timeout + callGrace)
	defer late.Stop()
	select {
	case <-watched:
	case <-late.C:
		d.log.Warn("device is left while it still watches")
	}
}

// poll observes once and returns the time until the next observation.
func (d *device) poll(ctx context.Context, driver drivers.Driver) time.Duration {
	statuses, err := call(ctx, d, d.Timeout, driver.Poll)
	if ctx.Err() != nil {
		return d.live().Poll
	}
	if err != nil {
		d.lost(err)
		if d.view.offline() {
			return d.backOff()
		}
		return d.live().Poll
	}
	d.pause = 0
	if d.failing {
		d.failing = false
		d.log.Info("device answers again")
	}
	d.publish(d.view.observe(statuses))
	return d.live().Poll
}

// lost counts a failed try.
func (d *device) lost(err error) {
	if !d.failing {
		d.failing = true
		d.log.Warn("device does not answer", "error", err)
	}
	d.publish(d.view.fail(err))
}

// publish shows the new view to readers, and hands what changed to the log.
func (d *device) publish(c eventlog.Change) {
	fresh := time.Now().Add(strikes*(d.live().Poll+d.Timeout) + orderTimeout)
	d.show(d.view.snapshot(fresh, ""))
	d.seen.Store(true)
	if c.Any() {
		d.space.changed()
		d.agent.Events.Add(c)
	}
}

// backOff doubles the pause between tries, with jitter so that a building
// after a power cut does not knock at every device in step.
func (d *device) backOff() time.Duration {
	d.pause = min(max(2*d.pause, d.live().Poll), maxPause)
	return d.pause/2 + rand.N(d.pause/2+1)
}

// watch runs the driver's own reports beside the loop. The channel is closed
// when it has ended.
func (d *device) watch(ctx context.Context, driver drivers.Driver) <-chan struct{} {
	ended := make(chan struct{})
	watcher, ok := driver.(drivers.Watcher)
	if !ok {
		close(ended)
		return ended
	}
	go func() {
		defer close(ended)
		for pause := time.Second; ctx.Err() == nil; pause = min(2*pause, maxPause) {
			if err := guard(func() error { return watcher.Watch(ctx, d.report) }); err != nil && ctx.Err() == nil {
				d.log.Debug("watching ended, trying again", "error", err)
			}
			loop.Sleep(ctx, pause)
		}
	}()
	return ended
}

// report takes what the hardware says by itself.
func (d *device) report(e drivers.Event) {
	if !d.live().Enabled {
		return
	}
	if e.Type == drivers.EventCodeEntered && e.Code != "" && d.entered(e.Code) {
		return
	}
	if e.Type != drivers.EventChanged {
		d.agent.Events.Add(eventlog.Change{Rows: []eventlog.Row{d.event(e.Type, e.Sub, e.Time, e.Details)}})
	}
	d.kick.Wake()
}

func (d *device) close(driver drivers.Driver) {
	ctx, cancel := context.WithTimeout(context.Background(), d.Timeout)
	defer cancel()
	_, err := call(ctx, d, d.Timeout, func(context.Context) (struct{}, error) { return struct{}{}, driver.Close() })
	if err != nil {
		d.log.Warn("device could not be closed", "error", err)
	}
}
