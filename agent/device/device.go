package device

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"roomgate/agent/config"
	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	"roomgate/drivers"
	"roomgate/store"
)

const (
	// strikes is how many observations in a row may fail before a device
	// counts as offline.
	strikes = 3
	// maxPause bounds the pause between two tries at a device that is offline.
	maxPause = 30 * time.Second
	// commandTimeout is the least time that a command is given; some answer with
	// a picture.
	commandTimeout = 10 * time.Second
	// stuckAfter is how long a device's loop may take for one turn beyond what its
	// own time-outs allow.
	stuckAfter = 30 * time.Second
)

// Options are what a device is loaded with.
type Options struct {
	Config   config.Device
	SpaceID  string // the meeting space that it is in
	Events   *eventlog.Log
	Commands *Commands
	Buses    drivers.Buses
	Log      *slog.Logger // names the space and the device
	// Changed is told that something of the device has changed. It must not wait.
	Changed func()
	// Entered takes what was typed at the device's keypad; false: it is no code
	// but, say, a card, and becomes an event. It must not wait.
	Entered func(drivers.Secret) bool
}

// Device is one device of the building and the loop that alone talks to it.
type Device struct {
	config.Device // as it is configured
	SpaceID       string

	events   *eventlog.Log
	commands *Commands
	buses    drivers.Buses
	log      *slog.Logger
	changed  func()
	entered  func(drivers.Secret) bool

	observed
	setting
	running

	lane *lane                  // accepted commands
	last atomic.Pointer[Stored] // the last command to it
	gone atomic.Bool            // it was removed, and its loop has ended

	alarms eventlog.Alarms // that came too often
}

// setting is how a device is set.
type setting struct {
	terms  atomic.Pointer[Terms]
	turned loop.Signal // holds a token when the terms have changed
}

// running is how a device's loop stands.
type running struct {
	moved atomic.Int64  // unix nanoseconds of the loop's last turn
	busy  chan struct{} // holds one token while a call is inside the driver
	kick  loop.Signal   // the hardware asks for a poll

	// The loop owns the fields below.
	view    *view
	pause   time.Duration
	failing bool // the last try failed, and the log says so already
}

// Load makes a device with what was last known and set of it. It touches no
// hardware: that is Run's.
func Load(tx *store.Tx, o Options) (*Device, error) {
	stored, err := readings.Get(tx, o.Config.ID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	d := newDevice(o, stored)
	return d, d.loadSettings(tx)
}

func newDevice(o Options, stored []storedReading) *Device {
	d := &Device{
		Device: o.Config, SpaceID: o.SpaceID,
		events: o.Events, commands: o.Commands, buses: o.Buses, log: o.Log, changed: o.Changed, entered: o.Entered,
		setting: setting{turned: loop.NewSignal()},
		running: running{kick: loop.NewSignal(), busy: make(chan struct{}, 1)},
		lane:    newLane(),
	}
	d.terms.Store(&Terms{Device: o.Config})
	for _, s := range stored {
		if s.Sub == "" {
			d.before = s.Value
		}
	}
	d.view = newView(d, stored)
	d.show(d.view.snapshot(time.Time{}, "not observed since the start"))
	return d
}

// Last is the last command to the device since the start; nil: there was none.
func (d *Device) Last() *Stored { return d.last.Load() }

// Remove refuses what waits for a device that was removed. Its Run has returned.
func (d *Device) Remove() {
	d.gone.Store(true)
	d.turnAway()
}

// Stuck returns since when the device's loop has not moved; ok is false while it
// moves, or rests.
func (d *Device) Stuck(now time.Time) (since time.Time, ok bool) {
	moved := time.Unix(0, d.moved.Load())
	limit := commandTimeout + d.Timeout + d.Live().Poll + maxPause + stuckAfter
	return moved, d.Live().Enabled && d.moved.Load() > 0 && now.Sub(moved) > limit
}

// Run opens the device and serves it until ctx ends. A broken device does not
// end it: Run returns nil.
func (d *Device) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		if !d.Live().Enabled {
			d.rest(ctx)
			continue
		}
		driver, err := call(ctx, d, commandTimeout, func(ctx context.Context) (drivers.Driver, error) {
			return d.Options.Open(ctx, d.buses)
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
	return nil
}
