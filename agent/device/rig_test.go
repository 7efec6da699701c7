package device

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"roomgate/agent/clock"
	"roomgate/agent/config"
	"roomgate/agent/device/devicetest"
	"roomgate/agent/device/refusal"
	"roomgate/agent/eventlog"
	"roomgate/agent/eventlog/eventlogtest"
	"roomgate/agent/problem"
	"roomgate/drivers"
	"roomgate/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	room      = devicetest.Room
	otherRoom = devicetest.OtherRoom
)

// building has a light in each of two rooms, and a hub in the first.
const building = devicetest.Building

// seldom is the building with a lock, observed seldom, for tests that live
// through a day.
var seldom = strings.ReplaceAll(building, "poll: 2s", "poll: 10m") +
	"      - {id: door-1, type: lock, driver: scripted-lock, poll: 10m, timeout: 1s, options: {name: door-1}}\n"

// rig is the devices of a building and their commands, on a real store, log and
// clock, without anything above them.
type rig struct {
	*Commands
	t       testing.TB
	o       rigOptions
	db      *store.DB
	events  *eventlog.Log
	clock   *clock.Clock
	bench   devicetest.Bench
	devices []*Device
	stop    func()
}

type rigOptions struct {
	dir, yaml string
	bench     devicetest.Bench
	memory    clock.Memory // of the clock, from the run before
}

// openRig loads the devices without running them.
func openRig(t testing.TB, o rigOptions) *rig {
	t.Helper()
	if o.bench == nil {
		o.bench = devicetest.NewBench()
	}
	if o.yaml == "" {
		o.yaml = building
	}
	if o.dir == "" {
		o.dir = t.TempDir()
	}
	c, err := config.Parse("test.yaml", []byte(o.yaml), o.bench.Kinds())
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	r := &rig{t: t, o: o, bench: o.bench, clock: clock.New(clock.Options{Mode: clock.Always, Memory: o.memory})}
	if r.db, _, err = store.Open(t.Context(), filepath.Join(o.dir, "test.db"), store.Options{
		Names: slices.Concat(eventlog.Buckets(), Buckets(), refusal.Buckets()), Schema: 1, MaxSize: int64(c.Store.MaxSize), Reserve: Reserve, Log: log}); err != nil {
		t.Fatal(err)
	}
	r.stop = func() { r.close() }
	r.events = eventlog.New(eventlog.Options{DB: r.db, Clock: r.clock, Rows: c.Store.Events, Flush: c.Store.Flush, Log: log})
	r.Commands = NewCommands(CommandsOptions{DB: r.db, Events: r.events, Clock: r.clock, Log: log, TTL: c.Cloud.CommandTTL, Find: r.find})
	err = r.db.View(func(tx *store.Tx) error {
		for _, s := range c.Spaces {
			for _, dc := range s.Devices {
				d, err := Load(tx, Options{Config: dc, SpaceID: s.ID, Events: r.events, Commands: r.Commands, Log: log,
					Changed: func() {}, Entered: func(drivers.Secret) bool { return true }})
				if err != nil {
					return err
				}
				r.devices = append(r.devices, d)
			}
		}
		return nil
	})
	if err = errors.Join(err, r.CloseInterrupted(t.Context())); err != nil {
		t.Fatal(err)
	}
	return r
}

// find is how the building finds a device.
func (r *rig) find(spaceID, deviceType string) (*Device, error) {
	i := slices.IndexFunc(r.devices, func(d *Device) bool { return d.SpaceID == spaceID && d.Type == deviceType })
	switch {
	case spaceID != room && spaceID != otherRoom:
		return nil, problem.New(problem.NotFound, "meeting_space_id", "is not a meeting space of this building")
	case i < 0:
		return nil, problem.New(problem.NotFound, "device_type", "is not a device of this meeting space")
	}
	return r.devices[i], nil
}

func startRig(t testing.TB, o rigOptions) *rig {
	t.Helper()
	r := openRig(t, o)
	r.run()
	return r
}

// run runs the devices and the log until the test or stop ends them, the devices
// first, as the building does.
func (r *rig) run() {
	upper, stopUpper := context.WithCancel(context.Background())
	lower, stopLower := context.WithCancel(context.Background())
	var loops, devices sync.WaitGroup
	run := func(name string, f func(context.Context) error) {
		loops.Go(func() {
			if err := f(upper); err != nil {
				r.t.Errorf("%s: %v", name, err)
			}
		})
	}
	run("store", r.db.Run)
	run("log", r.events.Run)
	for _, d := range r.devices {
		devices.Go(func() { d.Run(lower) })
	}
	r.stop = sync.OnceFunc(func() {
		stopLower()
		devices.Wait()
		if err := r.events.Finish(context.Background()); err != nil {
			r.t.Errorf("the last of the devices: %v", err)
		}
		stopUpper()
		loops.Wait()
		r.close()
	})
	r.t.Cleanup(r.stop)
}

func (r *rig) close() {
	r.o.memory = r.clock.Memory()
	if err := r.db.Close(); err != nil {
		r.t.Errorf("Close: %v", err)
	}
	if err := store.Verify(filepath.Join(r.o.dir, "test.db")); err != nil {
		r.t.Errorf("the database after the test: %v", err)
	}
}

// again starts the building once more, with what it has stored.
func (r *rig) again() *rig {
	r.t.Helper()
	r.stop()
	return startRig(r.t, r.o)
}

// wait lets virtual time pass.
func (r *rig) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// ready says whether every device had its first verdict.
func (r *rig) ready() bool {
	return !slices.ContainsFunc(r.devices, func(d *Device) bool { return !d.Seen() })
}

// stuck says whether the loop of any device does not move.
func (r *rig) stuck() bool {
	return slices.ContainsFunc(r.devices, func(d *Device) bool { _, ok := d.Stuck(time.Now()); return ok })
}

func (r *rig) statusOf(spaceID, deviceType, sub string) (Reading, error) {
	d, err := r.find(spaceID, deviceType)
	if err != nil {
		return Reading{}, err
	}
	return d.Status(sub)
}

func (r *rig) status(spaceID, deviceType, sub string) Record {
	r.t.Helper()
	got, err := r.statusOf(spaceID, deviceType, sub)
	if err != nil {
		r.t.Fatal(err)
	}
	return got.Record
}

func (r *rig) byID(id string) *Device {
	return r.devices[slices.IndexFunc(r.devices, func(d *Device) bool { return d.ID == id })]
}

func (r *rig) setDevice(id string, s Settings) Info {
	r.t.Helper()
	d := r.byID(id)
	if err := d.Change(r.t.Context(), s, false, "test"); err != nil {
		r.t.Fatal(err)
	}
	return d.Info("")
}

// told returns the events so far as "kind device".
func (r *rig) told() []string { return eventlogtest.Told(r.t, r.events) }

// bubble runs a test in virtual time.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}
