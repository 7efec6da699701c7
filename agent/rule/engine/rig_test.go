package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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
	"roomgate/agent/device/devicetest"
	"roomgate/agent/eventlog"
	"roomgate/agent/eventlog/eventlogtest"
	"roomgate/agent/message/book"
	"roomgate/agent/problem"
	"roomgate/agent/push"
	"roomgate/agent/push/pushtest"
	"roomgate/agent/rule/doubt"
	"roomgate/agent/schedule"
	"roomgate/drivers"
	"roomgate/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	room      = devicetest.Room // of org
	otherRoom = devicetest.OtherRoom
	org       = "5f0c6a0e-1d6c-4b59-8f0e-2d9a3b7c1ec0"
	pushToken = "tk_of-the-building"
)

// building has a light in each of two rooms, and a hub in the first.
const building = devicetest.Building

// readers are the people whom messages reach.
var readers = []book.Reader{
	{ID: "ada", Email: "ada@example.com", Name: "Ada", Topic: "ada-phone"},
	{ID: "mel", Email: "mel@example.com", Name: "Mel", OrganizationID: org, Topic: "rooms-mel"},
}

// rig is an engine on a real store, log and clock, with real devices, bookings
// and messages, beside scripted hardware and a push gateway.
type rig struct {
	*Engine
	t        testing.TB
	o        rigOptions
	log      strings.Builder
	bench    devicetest.Bench
	push     *pushtest.Server
	bookings *schedule.Book
	devices  []*device.Device
	site     *Site
	owners   map[string]string // organizations by space
	grown    func()            // hears that the log has grown; nil: nobody does
	stop     func()
}

type rigOptions struct {
	dir, yaml string
	bench     devicetest.Bench
}

// openRig opens a building without running it.
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
	r := &rig{t: t, o: o, bench: o.bench, push: &pushtest.Server{Token: pushToken}}
	log := slog.New(slog.NewTextHandler(&r.log, nil))
	db, _, err := store.Open(t.Context(), filepath.Join(o.dir, "test.db"), store.Options{Schema: 1, MaxSize: int64(c.Store.MaxSize), Log: log,
		Names: slices.Concat(eventlog.Buckets(), device.Buckets(), schedule.Buckets(), book.Buckets(), doubt.Buckets(), Buckets())})
	if err != nil {
		t.Fatal(err)
	}
	by := clock.New(clock.Options{Mode: c.Clock.Trust, Memory: r.memory()})
	events := eventlog.New(eventlog.Options{DB: db, Clock: by, Rows: c.Store.Events, Flush: c.Store.Flush, Log: log, Grown: func() {
		if r.grown != nil {
			r.grown()
		}
	}})
	commands := device.NewCommands(device.CommandsOptions{DB: db, Events: events, Clock: by, Log: log, TTL: c.Cloud.CommandTTL,
		Find: func(spaceID, deviceType string) (*device.Device, error) {
			s, err := r.site.space(spaceID)
			if err != nil {
				return nil, err
			}
			return s.Device(deviceType)
		}})
	r.bookings = schedule.New(schedule.Options{DB: db, Events: events, Clock: by, Log: log, Changed: func(string) {},
		Presence: func(string) (schedule.Presence, bool) { return schedule.Presence{Value: schedule.Unknown}, false },
		Owner:    func(string) (string, error) { return "", nil },
		Notices:  func(*schedule.Room, []booking.Booking) eventlog.Stage { return eventlog.Stage{} }})
	err = db.View(func(tx *store.Tx) error {
		if err := r.bookings.Load(tx, c.Spaces); err != nil {
			return err
		}
		return r.loadSite(tx, c.Spaces, device.Options{Events: events, Commands: commands, Log: log})
	})
	if err = errors.Join(err, commands.CloseInterrupted(t.Context()), r.bookings.NoteNewSpaces(t.Context())); err != nil {
		t.Fatal(err)
	}
	messages, err := book.Open(t.Context(), r.messageOptions(book.Options{DB: db, Events: events, Clock: by, Log: log, Flush: c.Store.Flush, Booking: r.bookings.Get}))
	if err != nil {
		t.Fatal(err)
	}
	keys, _ := auth.NewKeys(bytes.Repeat([]byte("k"), auth.SecretSize))
	marks, err := doubt.Open(t.Context(), doubt.Options{DB: db, Unsure: commands.Unsure, Schedule: func(string) bool { return false },
		Devices: func() []*device.Device { return r.devices }})
	if err != nil {
		t.Fatal(err)
	}
	r.Engine, err = Open(t.Context(), Options{Marks: marks, DB: db, Events: events, Clock: by, Log: log, Commands: commands, Messages: messages, Keys: keys,
		Site: func() *Site { return r.site }, Booking: r.bookings.Get, Ready: r.ready, UnsignedAllowed: func() bool { return true }, Doubted: func(string) bool { return false },
		Owner: func(id string) (string, error) { return r.owners[id], nil }})
	if err != nil {
		t.Fatal(err)
	}
	r.stop = func() { r.close() }
	return r
}

// loadSite makes the spaces with their devices.
func (r *rig) loadSite(tx *store.Tx, spaces []config.Space, o device.Options) error {
	var order []*Space
	for _, c := range spaces {
		s := &Space{Room: r.bookings.Room(c.ID)}
		for _, d := range c.Devices {
			o := o
			o.Config, o.SpaceID = d, c.ID
			o.Changed, o.Entered = func() {}, func(drivers.Secret) bool { return true }
			loaded, err := device.Load(tx, o)
			if err != nil {
				return err
			}
			s.Devices = append(s.Devices, loaded)
		}
		s.Device = func(deviceType string) (*device.Device, error) {
			if i := slices.IndexFunc(s.Devices, func(d *device.Device) bool { return d.Type == deviceType }); i >= 0 {
				return s.Devices[i], nil
			}
			return nil, problem.New(problem.NotFound, "device_type", "is not a device of this meeting space")
		}
		r.devices = append(r.devices, s.Devices...)
		order = append(order, s)
	}
	r.site = NewSite(order...)
	return nil
}

// messageOptions let messages reach the people.
func (r *rig) messageOptions(o book.Options) book.Options {
	reader := func(fits func(book.Reader) bool) (book.Reader, bool) {
		i := slices.IndexFunc(readers, fits)
		if i < 0 {
			return book.Reader{}, false
		}
		return readers[i], true
	}
	o.Keys, _ = auth.NewKeys(bytes.Repeat([]byte("k"), auth.SecretSize))
	started := time.Now()
	o.Moment = func() auth.Moment {
		return auth.Moment{Boot: o.Events.Boot(), Up: time.Since(started), Milli: time.Now().UnixMilli(), Trusted: o.Clock.Trust() == clock.Trusted}
	}
	o.Push = push.New("https://push.test", func() (string, error) { return pushToken, nil }, &http.Client{Transport: r.push})
	o.ReaderByID = func(id string) (book.Reader, bool) { return reader(func(p book.Reader) bool { return p.ID == id }) }
	o.ReaderByEmail = func(email, _ string) (book.Reader, bool) {
		return reader(func(p book.Reader) bool { return p.Email == email })
	}
	o.HasTopic = func(string, string) bool { return true }
	o.Owner = func(spaceID string) (string, error) {
		if spaceID == room {
			return org, nil
		}
		return "", nil
	}
	return o
}

// ready is nil once every device was observed.
func (r *rig) ready() error {
	if slices.ContainsFunc(r.devices, func(d *device.Device) bool { return !d.Seen() }) {
		return errors.New("a device has not been observed yet")
	}
	return nil
}

// close lets the store go, and keeps what the clock has to know.
func (r *rig) close() {
	kept, err := json.Marshal(r.Engine.o.Clock.Memory())
	err = errors.Join(err, os.WriteFile(filepath.Join(r.o.dir, "clock.json"), kept, 0o600), r.Engine.o.DB.Close(),
		store.Verify(filepath.Join(r.o.dir, "test.db")))
	if err != nil {
		r.t.Errorf("closed with %v", err)
	}
}

func (r *rig) memory() (m clock.Memory) {
	text, err := os.ReadFile(filepath.Join(r.o.dir, "clock.json"))
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		r.t.Fatal(err)
	}
	return m
}

// startRig opens and runs a building until the test or stop ends it.
func startRig(t testing.TB, o rigOptions) *rig {
	t.Helper()
	r := openRig(t, o)
	r.run()
	return r
}

// run runs an opened building, of which devices and rules end first.
func (r *rig) run() {
	upper, stopUpper := context.WithCancel(context.Background())
	lower, stopLower := context.WithCancel(context.Background())
	var loops errgroup.Group
	var first sync.WaitGroup
	o := r.Engine.o
	for _, run := range []func(context.Context) error{o.DB.Run, o.Events.Run, r.bookings.Run, o.Messages.Run} {
		loops.Go(func() error { return run(upper) })
	}
	for _, d := range r.devices {
		first.Go(func() { d.Run(lower) })
	}
	first.Go(func() { r.Run(lower) })
	r.stop = sync.OnceFunc(func() {
		stopLower()
		first.Wait()
		err := o.Events.Flush(context.Background())
		stopUpper()
		if err := errors.Join(err, loops.Wait()); err != nil {
			r.t.Errorf("stopped with %v", err)
		}
		r.close()
	})
	r.t.Cleanup(r.stop)
}

// wait lets virtual time pass.
func (r *rig) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// hub is the sensor hub of the first room.
func (r *rig) hub() *device.Device {
	r.t.Helper()
	d, err := r.site.byID[room].Device(drivers.TypeO3)
	if err != nil {
		r.t.Fatal(err)
	}
	return d
}

// told returns the events so far as "kind device".
func (r *rig) told() []string { return eventlogtest.Told(r.t, r.Engine.o.Events) }

// pushed is what the push gateway has taken, as "topic title".
func (r *rig) pushed() (all []string) {
	for _, m := range r.push.Taken() {
		all = append(all, m.Topic+" "+m.Title)
	}
	return all
}

// on is a time on the first day of a bubble.
func on(hour, minute int) time.Time { return time.Date(2000, 1, 1, hour, minute, 0, 0, time.UTC) }

// meeting is what is asked for by an id and its times.
func meeting(id string, from, to time.Time) booking.Booking {
	return booking.Booking{ID: id, SpaceID: room, Title: id, Start: from, End: to}
}

func (r *rig) book(id string, from, to time.Time) {
	r.t.Helper()
	if _, created, err := r.bookings.Create(r.t.Context(), meeting(id, from, to), schedule.Caller{}); err != nil || !created {
		r.t.Fatalf("%s: created %v, %v", id, created, err)
	}
}

// refusal is what a method says, in short: "invalid trigger.time".
func refusal(err error) string {
	if e := device.AsError(err); e != nil {
		return strings.TrimSpace(string(e.Code) + " " + e.Field)
	}
	return ""
}

// wantRefusal wants a refusal of that code and field.
func wantRefusal(t *testing.T, what string, err error, want string) {
	t.Helper()
	if got := refusal(err); got != want {
		t.Errorf("%s: %v, want %s", what, err, want)
	}
}

// bubble runs a test in virtual time.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}
