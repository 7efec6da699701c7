package site

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"roomgate/agent/access"
	"roomgate/agent/booking"
	"roomgate/agent/clock"
	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/device/devicetest"
	"roomgate/agent/devicesecret"
	"roomgate/agent/eventlog"
	"roomgate/agent/eventlog/eventlogtest"
	"roomgate/agent/problem"
	"roomgate/agent/schedule"
	"roomgate/drivers"
	"roomgate/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	room      = devicetest.Room
	otherRoom = devicetest.OtherRoom
	newRoom   = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a03"
	org       = "5f0c6a0e-1d6c-4b59-8f0e-2d9a3b7c1ec0"
)

// building has a light in each of two rooms, and a hub in the first.
const building = devicetest.Building

// planned has two rooms without devices, so that a day passes quickly.
const planned = devicetest.Planned

// watched has a room with a sensor, whose empty meetings are given back.
const watched = devicetest.Watched

// rig is a site on a real store, log, clock and schedule, with real devices beside
// scripted hardware.
type rig struct {
	*Site
	t       testing.TB
	o       rigOptions
	claimed string // the organization that has claimed the gateway
	stop    func()
}

type rigOptions struct {
	dir, yaml string
	log       *slog.Logger // nil: nobody reads it
	bench     devicetest.Bench
}

// moreHardware is a bench with a door and a hub that no file names.
func moreHardware() devicetest.Bench {
	b := devicetest.NewBench()
	b["door-3"] = devicetest.New(map[string]string{"": drivers.Closed})
	b["hub-2"] = devicetest.New(map[string]string{drivers.SubTemperature: "20", drivers.SubRing: drivers.Off})
	return b
}

func (r *rig) parse(yaml string) *config.Config {
	r.t.Helper()
	c, err := config.Parse("test.yaml", []byte(yaml), r.o.bench.Kinds())
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

// openRig opens a site without running it.
func openRig(t testing.TB, o rigOptions) *rig {
	t.Helper()
	if o.bench == nil {
		o.bench = moreHardware()
	}
	if o.yaml == "" {
		o.yaml = building
	}
	if o.dir == "" {
		o.dir = t.TempDir()
	}
	if o.log == nil {
		o.log = slog.New(slog.DiscardHandler)
	}
	r := &rig{t: t, o: o}
	c, silent := r.parse(o.yaml), slog.New(slog.DiscardHandler)
	keys, err := devicesecret.Open(o.dir, "", silent)
	if err != nil {
		t.Fatal(err)
	}
	db, _, err := store.Open(t.Context(), filepath.Join(o.dir, "test.db"), store.Options{Schema: 1, Log: silent,
		Names: slices.Concat(eventlog.Buckets(), access.Buckets(), device.Buckets(), schedule.Buckets(), Buckets())})
	if err != nil {
		t.Fatal(err)
	}
	time := clock.New(clock.Options{Mode: c.Clock.Trust})
	events := eventlog.New(eventlog.Options{DB: db, Clock: time, Rows: c.Store.Events, Flush: c.Store.Flush, Log: silent})
	commands := device.NewCommands(device.CommandsOptions{DB: db, Events: events, Clock: time, Log: silent, TTL: c.Cloud.CommandTTL,
		Find: func(spaceID, deviceType string) (*device.Device, error) { return r.Device(spaceID, deviceType) }})
	bookings := schedule.New(schedule.Options{DB: db, Events: events, Clock: time, Log: o.log, Policy: c.Calendars.Policy(false),
		Presence: func(id string) (schedule.Presence, bool) { return r.Site.Presence(id) },
		Owner:    func(id string) (string, error) { return r.OrganizationOf(id) },
		Notices:  func(*schedule.Room, []booking.Booking) eventlog.Stage { return eventlog.Stage{} },
		Changed:  func(id string) { r.Site.Changed(id) }})
	r.Site, err = Open(t.Context(), Options{DB: db, Events: events, Clock: time, Keys: keys, Log: o.log, Config: c, Commands: commands, Bookings: bookings,
		Claimed: func() string { return r.claimed }, Entered: func(string, drivers.Secret) bool { return true }})
	if err = errors.Join(err, commands.CloseInterrupted(t.Context()), bookings.NoteNewSpaces(t.Context())); err != nil {
		t.Fatal(err)
	}
	r.stop = sync.OnceFunc(func() { r.close() })
	t.Cleanup(func() { r.stop() })
	return r
}

// startRig opens and runs a site until the test or stop ends it: the devices first,
// as the building does.
func startRig(t *testing.T, o rigOptions) *rig {
	t.Helper()
	r := openRig(t, o)
	upper, stopUpper := context.WithCancel(context.Background())
	lower, stopLower := context.WithCancel(context.Background())
	var loops, devices errgroup.Group
	loops.Go(func() error { return r.Site.o.DB.Run(upper) })
	loops.Go(func() error { return r.Site.o.Events.Run(upper) })
	loops.Go(func() error { return r.Site.o.Bookings.Run(upper) })
	devices.Go(func() error { return r.Run(lower) })
	r.stop = sync.OnceFunc(func() {
		stopLower()
		err := errors.Join(devices.Wait(), r.Site.o.Events.Flush(context.Background()))
		stopUpper()
		if err := errors.Join(err, loops.Wait()); err != nil {
			t.Errorf("stopped with %v", err)
		}
		r.close()
	})
	return r
}

func (r *rig) close() {
	if err := errors.Join(r.Site.o.DB.Close(), store.Verify(filepath.Join(r.o.dir, "test.db"))); err != nil {
		r.t.Errorf("closed with %v", err)
	}
}

// wait lets virtual time pass.
func (r *rig) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// on is a time on the first day of a bubble.
func on(hour, minute int) time.Time { return time.Date(2000, 1, 1, hour, minute, 0, 0, time.UTC) }

// until lets virtual time pass.
func (r *rig) until(t time.Time) { r.wait(time.Until(t)) }

func (r *rig) book(id string, from, to time.Time) {
	r.t.Helper()
	b := booking.Booking{ID: id, SpaceID: room, Title: id, Start: from, End: to}
	if _, created, err := r.Site.o.Bookings.Create(context.Background(), b, schedule.Caller{}); err != nil || !created {
		r.t.Fatalf("%s: created %v, %v", id, created, err)
	}
}

func (r *rig) status(spaceID, deviceType, sub string) device.Record {
	r.t.Helper()
	got, err := r.Status(spaceID, deviceType, sub)
	if err != nil {
		r.t.Fatal(err)
	}
	return got.Record
}

// told returns the events so far as "kind device".
func (r *rig) told() []string { return eventlogtest.Told(r.t, r.Site.o.Events) }

func (r *rig) refuses(what string, code problem.Code, field string, err error) {
	r.t.Helper()
	if e := device.AsError(err); err == nil || e.Code != code || e.Field != field {
		r.t.Errorf("%s: %v", what, err)
	}
}

// manage lets the cloud manage these spaces and devices, as JSON.
func (r *rig) manage(spaces, devices string) error {
	r.t.Helper()
	turn, err := r.Turn(r.t.Context())
	if err != nil {
		return err
	}
	defer turn.End()
	c, err := turn.StageManaged(r.t.Context(), Managed{documents(r.t, spaces), documents(r.t, devices)}, "cloud")
	if err != nil {
		return err
	}
	return r.Site.o.Events.Commit(r.t.Context(), c.Stage())
}

// documents are those of a JSON array, nil of an empty text.
func documents(t testing.TB, text string) (all *[]json.RawMessage) {
	t.Helper()
	if text == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// bubble runs a test in virtual time.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

func (r *rig) booking(id string) booking.Booking {
	r.t.Helper()
	b, err := r.Site.o.Bookings.Get(id)
	if err != nil {
		r.t.Fatal(err)
	}
	return b
}
