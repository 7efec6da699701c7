package roomcontrol

import (
	"context"
	"encoding/json"
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

	"roomgate/agent/booking"
	"roomgate/agent/clock"
	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	"roomgate/agent/problem"
	"roomgate/agent/schedule"
	"roomgate/configs"
	"roomgate/drivers"
	"roomgate/drivers/all"
	"roomgate/drivers/sim/plan"
	"roomgate/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	aurora   = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01" // hub on MQTT
	borealis = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a02" // lock that holds, hub of parts
)

// rooms are those of the demo's world, with what follows a schedule.
const rooms = `
gateway: {id: test}
clock: {trust: always}
spaces:
  - id: ` + borealis + `
    name: Borealis
    follow: {ring: true, light: true, fan: true, door: true, beep: true, off_after: 2m}
    devices:
      - {id: lock, type: lock, driver: lock-relay, poll: 5s, options: {relay: borealis.lock.relay, active_low: true, sense: borealis.lock.sense, mode: hold}}
      - {id: light, type: light, driver: light-pwm, poll: 5s, options: {channel: borealis.light}}
      - {id: fan, type: fan, driver: fan-pwm, poll: 5s, options: {channel: borealis.fan, tach: borealis.fan.tach}}
      - {id: o3, type: o3-sensor, driver: o3-parts, poll: 5s, options: {bus: borealis.i2c, address: 0x48, pir: borealis.o3.pir, hold: 10s, buzzer: borealis.o3.buzzer, ring: borealis.o3.ring}}
`

// mqttHub is the other room, with a hub on MQTT.
const mqttHub = `
  - id: ` + aurora + `
    name: Aurora
    devices:
      - {id: hub, type: o3-sensor, driver: o3-mqtt, poll: 5s, options: {address: "o3.aurora.demo:1883", username: user, password: demo, silence: 30s}}
`

const (
	green = "#00ff00"
	amber = "#ff6600"
	red   = "#ff0000"
)

// rig is rooms that follow their schedules, in virtual time, which begins at
// midnight: a real store, log, clock and book, and real drivers above simulated
// hardware.
type rig struct {
	*schedule.Book
	t        testing.TB
	buses    drivers.Buses
	config   *config.Config
	dir      string
	db       *store.DB
	events   *eventlog.Log
	clock    *clock.Clock
	memory   clock.Memory // of the clock, from the run before
	commands *device.Commands
	devices  []*device.Device
	changed  map[string]loop.Signal // by room
	stop     func()
}

// newRig is a rig that is not open.
func newRig(t testing.TB, yaml string, kinds []drivers.Kind, buses drivers.Buses) *rig {
	t.Helper()
	c, err := config.Parse("rooms.yaml", []byte(yaml), kinds)
	if err != nil {
		t.Fatal(err)
	}
	return &rig{t: t, config: c, buses: buses, dir: t.TempDir(), stop: func() {}}
}

// follows starts the demo's rooms of which texts of the configuration are
// replaced: the second of each pair stands for the first.
func follows(t *testing.T, yaml string, replace ...string) *house {
	t.Helper()
	text := string(configs.DemoWorld)
	if !strings.Contains(yaml, mqttHub) { // it says something each second of a long day
		before, after, _ := strings.Cut(text, "  - {space: aurora, device: o3-sensor")
		_, after, _ = strings.Cut(after, "\n")
		text = before + after
	}
	world, err := plan.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(world.Close)
	h := &house{rig: newRig(t, strings.NewReplacer(replace...).Replace(yaml), all.All(), world), world: world}
	h.start()
	h.pass(5 * time.Second)
	return h
}

// open loads what is stored, without running it.
func (r *rig) open() {
	t, log := r.t, slog.New(slog.DiscardHandler)
	t.Helper()
	var err error
	if r.db, _, err = store.Open(t.Context(), filepath.Join(r.dir, "test.db"), store.Options{Schema: 1, MaxSize: int64(r.config.Store.MaxSize),
		Names: slices.Concat(eventlog.Buckets(), schedule.Buckets(), device.Buckets())}); err != nil {
		t.Fatal(err)
	}
	r.clock = clock.New(clock.Options{Mode: r.config.Clock.Trust, Memory: r.memory})
	r.events = eventlog.New(eventlog.Options{DB: r.db, Clock: r.clock, Rows: r.config.Store.Events, Flush: r.config.Store.Flush, Log: log})
	r.commands = device.NewCommands(device.CommandsOptions{DB: r.db, Events: r.events, Clock: r.clock, Log: log, TTL: r.config.Cloud.CommandTTL, Find: r.find})
	r.Book = schedule.New(schedule.Options{DB: r.db, Events: r.events, Clock: r.clock, Log: log, Policy: r.config.Calendars.Policy(false),
		Presence: r.presence, Owner: func(string) (string, error) { return "", nil }, Changed: func(spaceID string) { r.changed[spaceID].Wake() },
		Notices: func(*schedule.Room, []booking.Booking) eventlog.Stage { return eventlog.Stage{} }})
	r.devices, r.changed = nil, map[string]loop.Signal{}
	err = r.db.View(func(tx *store.Tx) error {
		for _, s := range r.config.Spaces {
			r.changed[s.ID] = loop.NewSignal()
			for _, dc := range s.Devices {
				d, err := device.Load(tx, device.Options{Config: dc, SpaceID: s.ID, Events: r.events, Commands: r.commands, Buses: r.buses, Log: log,
					Changed: r.changed[s.ID].Wake, Entered: func(drivers.Secret) bool { return true }})
				if err != nil {
					return err
				}
				r.devices = append(r.devices, d)
			}
		}
		return r.Load(tx, r.config.Spaces)
	})
	if err = errors.Join(err, r.commands.CloseInterrupted(t.Context()), r.NoteNewSpaces(t.Context())); err != nil {
		t.Fatal(err)
	}
}

func (r *rig) close() error {
	r.memory = r.clock.Memory()
	return errors.Join(r.db.Close(), store.Verify(filepath.Join(r.dir, "test.db")))
}

// find is how the building finds a device.
func (r *rig) find(spaceID, deviceType string) (*device.Device, error) {
	for _, d := range r.devices {
		if d.SpaceID == spaceID && d.Type == deviceType {
			return d, nil
		}
	}
	return nil, problem.New(problem.NotFound, "device_type", "is not a device of this meeting space")
}

// presence is what the hub of a room sees, as the building tells it.
func (r *rig) presence(spaceID string) (seen schedule.Presence, blind bool) {
	hub, err := r.find(spaceID, drivers.TypeO3)
	if err != nil {
		return schedule.Presence{Value: schedule.Unknown}, false
	}
	reading, ok := hub.Reading(drivers.SubOccupancy)
	if !ok || reading.Offline() {
		return schedule.Presence{Value: schedule.Unknown}, !hub.Seen()
	}
	return schedule.Presence{Value: reading.Value}, false
}

// options are what the control of a room stands on.
func (r *rig) options(s config.Space) Options {
	return Options{Clock: r.clock, Log: slog.New(slog.DiscardHandler), Room: r.Room(s.ID), Follow: s.Follow, Do: r.commands.Do, Changed: r.changed[s.ID], UnsignedAllowed: func() bool { return true },
		Device: func(deviceType string) *device.Device {
			d, _ := r.find(s.ID, deviceType)
			return d
		},
		Presence: func() string { seen, _ := r.presence(s.ID); return seen.Value }}
}

// start opens and runs the rooms until the test or stop ends them, the devices
// first, as the building does.
func (r *rig) start() {
	r.t.Helper()
	r.open()
	upper, stopUpper := context.WithCancel(context.Background())
	lower, stopLower := context.WithCancel(context.Background())
	var loops, devices sync.WaitGroup
	run := func(all *sync.WaitGroup, ctx context.Context, f func(context.Context) error) {
		all.Go(func() {
			if err := f(ctx); err != nil {
				r.t.Errorf("a loop ended with %v", err)
			}
		})
	}
	for _, f := range []func(context.Context) error{r.db.Run, r.events.Run, r.Run} {
		run(&loops, upper, f)
	}
	for _, s := range r.config.Spaces {
		run(&devices, lower, func(ctx context.Context) error { return Run(ctx, r.options(s)) })
	}
	for _, d := range r.devices {
		devices.Go(func() { d.Run(lower) })
	}
	r.stop = sync.OnceFunc(func() {
		stopLower()
		devices.Wait()
		err := r.events.Flush(context.Background())
		stopUpper()
		loops.Wait()
		if err := errors.Join(err, r.close()); err != nil {
			r.t.Errorf("the rooms ended with an error: %v", err)
		}
	})
	r.t.Cleanup(func() { r.stop() })
}

// pass lets virtual time go by.
func (r *rig) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// given are the commands of the schedule to a device of a room so far.
func (r *rig) given(space, deviceType string) (all []string) {
	r.t.Helper()
	f := eventlog.Filter{SpaceID: space, Type: "commandCompleted", Limit: 1000}
	if deviceType != "" {
		f.DeviceType = deviceType
	}
	events, _, err := r.events.Find(f)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, e := range events {
		var record struct {
			Details struct{ Action, Via, State string }
		}
		if err := json.Unmarshal(e.Record, &record); err != nil {
			r.t.Fatal(err)
		}
		if record.Details.Via == device.ViaSchedule {
			all = append(all, strings.TrimSpace(e.SubDevice+" "+record.Details.Action))
		}
	}
	return all
}

// status is the reading of a device or a sub-device.
func (r *rig) status(space, deviceType, sub string) (device.Reading, error) {
	d, err := r.find(space, deviceType)
	if err != nil {
		return device.Reading{}, err
	}
	return d.Status(sub)
}
