package unlock

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"roomgate/agent/auth"
	"roomgate/agent/booking"
	"roomgate/agent/clock"
	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/devicesecret"
	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	"roomgate/agent/problem"
	"roomgate/agent/schedule"
	"roomgate/drivers"
	"roomgate/drivers/lock"
	"roomgate/drivers/sim"
	"roomgate/drivers/sim/plan"
	"roomgate/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	aurora   = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01"
	borealis = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a02"
)

// doors is a room with a lock and a keypad, and one without.
const doors = `
gateway: {id: test}
clock: {trust: always}
spaces:
  - id: ` + aurora + `
    name: Aurora
    devices:
      - {id: lock, type: lock, driver: lock-relay, poll: 30s, options: {relay: aurora.lock.relay, sense: aurora.lock.sense, mode: pulse, keypad: {d0: aurora.lock.d0, d1: aurora.lock.d1}}}
  - id: ` + borealis + `
    name: Borealis
`

// hardware is what the lines lead to.
const hardware = `
spaces:
  - {id: ` + aurora + `, name: Aurora}
parts:
  - {space: aurora, device: lock, part: door, relay: aurora.lock.relay, sense: aurora.lock.sense, contact: aurora.lock.contact}
  - {space: aurora, device: lock, part: keypad, d0: aurora.lock.d0, d1: aurora.lock.d1, facility: 12}
`

// rig is the codes of a door with a keypad on a real store, log and schedule, with
// a real lock on simulated lines, in virtual time, which begins at midnight.
type rig struct {
	*Codes
	t        *testing.T
	world    *sim.World
	config   *config.Config
	dir      string
	memory   clock.Memory // of the clock, from the run before
	db       *store.DB
	log      *eventlog.Log
	clock    *clock.Clock
	bookings *schedule.Book
	commands *device.Commands
	stop     func()
	owner    atomic.Value // of the space, by its id

	mu       sync.Mutex
	lock     *device.Device
	gone     bool           // the door is none of the building any more
	asked    int            // how often it was looked for
	replaced loop.Broadcast // the lock is another
}

// startRig starts a rig of which texts of the configuration are replaced: the
// second of each pair stands for the first.
func startRig(t *testing.T, replace ...string) *rig {
	t.Helper()
	world, err := plan.Parse([]byte(hardware))
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, world: world, dir: t.TempDir()}
	if r.config, err = config.Parse("rooms.yaml", []byte(strings.NewReplacer(replace...).Replace(doors)), []drivers.Kind{lock.Kind()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(world.Close)
	t.Cleanup(func() { r.stop() })
	r.start()
	return r
}

func (r *rig) start() {
	r.t.Helper()
	r.open()
	r.run()
	r.pass(5 * time.Second)
}

// open opens the codes, and what they stand on.
func (r *rig) open() {
	r.t.Helper()
	r.owner.CompareAndSwap(nil, "acme")
	silent, started := slog.New(slog.DiscardHandler), time.Now()
	keys, err := devicesecret.Open(r.dir, "", silent)
	if err != nil {
		r.t.Fatal(err)
	}
	if r.db, _, err = store.Open(r.t.Context(), filepath.Join(r.dir, "test.db"), store.Options{Schema: 1}); err != nil {
		r.t.Fatal(err)
	}
	r.clock = clock.New(clock.Options{Mode: r.config.Clock.Trust, Memory: r.memory})
	r.log = eventlog.New(eventlog.Options{DB: r.db, Clock: r.clock, Rows: r.config.Store.Events, Flush: r.config.Store.Flush, Log: silent})
	r.commands = device.NewCommands(device.CommandsOptions{DB: r.db, Events: r.log, Clock: r.clock, Log: silent, TTL: r.config.Cloud.CommandTTL,
		Find: func(string, string) (*device.Device, error) { return r.theLock(), nil }})
	r.bookings = schedule.New(schedule.Options{DB: r.db, Events: r.log, Clock: r.clock, Log: silent, Policy: r.config.Calendars.Policy(false),
		Presence: func(string) (schedule.Presence, bool) { return schedule.Presence{Value: schedule.Unknown}, false },
		Owner:    func(string) (string, error) { return "", nil },
		Notices:  func(*schedule.Room, []booking.Booking) eventlog.Stage { return eventlog.Stage{} },
		Changed:  func(string) {}})
	if err = r.db.View(func(tx *store.Tx) error { return r.bookings.Load(tx, r.config.Spaces) }); err != nil {
		r.t.Fatal(err)
	}
	r.Codes, err = Open(r.t.Context(), Options{DB: r.db, Events: r.log, Clock: r.clock, Keys: keys, Commands: r.commands, Log: silent,
		UnsignedAllowed: func() bool { return true },
		Owner:           func(string) (string, error) { return r.owner.Load().(string), nil },
		Moment: func() auth.Moment {
			return auth.Moment{Boot: r.log.Boot(), Up: time.Since(started), Milli: time.Now().UnixMilli(), Trusted: r.clock.Trust() == clock.Trusted}
		},
		Door: func(spaceID string) (Door, error) {
			if r.mu.Lock(); r.gone {
				spaceID = ""
			}
			r.asked++
			r.mu.Unlock()
			if spaceID != aurora {
				return Door{}, problem.New(problem.NotFound, "meeting_space_id", "is a meeting space without a lock")
			}
			return r.door(), nil
		},
		Doors: func() ([]Door, <-chan struct{}) {
			replaced := r.replaced.Wait()
			return []Door{r.door()}, replaced
		}})
	if err = errors.Join(err, r.loadLock()); err != nil {
		r.t.Fatal(err)
	}
}

// loadLock makes the lock, also another one in its place.
func (r *rig) loadLock() error {
	return r.db.View(func(tx *store.Tx) error {
		d, err := device.Load(tx, device.Options{Config: r.config.Spaces[0].Devices[0], SpaceID: aurora, Events: r.log, Commands: r.commands,
			Buses: r.world, Log: slog.New(slog.DiscardHandler), Changed: func() {},
			Entered: func(typed drivers.Secret) bool { return r.Typed("lock", typed) }})
		r.mu.Lock()
		r.lock = d
		r.mu.Unlock()
		r.replaced.Wake()
		return err
	})
}

func (r *rig) theLock() *device.Device {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lock
}

func (r *rig) door() Door {
	return Door{Space: "Aurora", Lock: r.theLock(), Room: r.bookings.Room(aurora)}
}

// run runs all until the test or stop ends it: the lock and its keypad first, as
// the building does.
func (r *rig) run() {
	upper, stopUpper := context.WithCancel(context.Background())
	lower, stopLower := context.WithCancel(context.Background())
	var loops, devices errgroup.Group
	loops.Go(func() error { return r.db.Run(upper) })
	loops.Go(func() error { return r.log.Run(upper) })
	loops.Go(func() error { return r.bookings.Run(upper) })
	devices.Go(func() error { return r.Run(lower) })
	devices.Go(func() error {
		return loop.ForEach(lower, func() ([]*device.Device, <-chan struct{}) {
			replaced := r.replaced.Wait()
			return []*device.Device{r.theLock()}, replaced
		}, func(ctx context.Context, d *device.Device) error { d.Run(ctx); return nil })
	})
	r.stop = sync.OnceFunc(func() {
		stopLower()
		err := errors.Join(devices.Wait(), r.log.Flush(context.Background()))
		stopUpper()
		r.memory = r.clock.Memory()
		if err := errors.Join(err, loops.Wait(), r.db.Close(), store.Verify(filepath.Join(r.dir, "test.db"))); err != nil {
			r.t.Errorf("stopped with %v", err)
		}
	})
}

func (r *rig) restart() { r.stop(); r.start() }

// pass lets virtual time go by.
func (r *rig) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
