package schedule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
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
	"roomgate/agent/device/devicetest"
	"roomgate/agent/eventlog"
	"roomgate/agent/eventlog/eventlogtest"
	"roomgate/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	room      = devicetest.Room
	otherRoom = devicetest.OtherRoom
	thirdRoom = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a03"
	owner     = "5b0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a0a"
)

// sensor is what is known of people in every room.
type sensor struct {
	mu    sync.Mutex
	value string // empty: there is no sensor
	blind bool
}

func (s *sensor) show(value string) { s.set(value, false) }

func (s *sensor) set(value string, blind bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.value, s.blind = value, blind
}

func (s *sensor) presence(string) (seen Presence, blind bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.value != Occupied && s.value != Vacant {
		return Presence{Value: Unknown}, s.blind
	}
	return Presence{s.value, eventlog.StampOrNil(time.Now()), "script"}, s.blind
}

// rig is a running book under test, on a real store, log and clock.
type rig struct {
	*Book
	t      testing.TB
	dir    string
	db     *store.DB
	events *eventlog.Log
	clock  *clock.Clock
	sensor *sensor
	stop   func()

	mu      sync.Mutex
	changes map[string]int        // how often a room was said to be another
	asked   atomic.Int64          // how often a state was asked for
	gone    []booking.Booking     // whose organizers were to be told
	notices func() eventlog.Stage // what tells them; nil: nothing
}

type rigOptions struct {
	dir, yaml string
	secret    string // of the device
	machine   clock.Machine
	sensor    *sensor
	calendars http.RoundTripper
}

// openRig opens a book without running it.
func openRig(t testing.TB, o rigOptions) *rig {
	t.Helper()
	if o.dir == "" {
		o.dir = t.TempDir()
	}
	if o.sensor == nil {
		o.sensor = &sensor{}
	}
	if o.yaml == "" {
		o.yaml = planned
	}
	if o.calendars == nil {
		o.calendars = &website{status: http.StatusNotFound}
	}
	c := parse(t, o.yaml)
	db, _, err := store.Open(t.Context(), filepath.Join(o.dir, "test.db"), store.Options{Schema: 1, MaxSize: int64(c.Store.MaxSize),
		Names: append(eventlog.Buckets(), Buckets()...)})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, dir: o.dir, db: db, sensor: o.sensor, stop: func() {}, changes: map[string]int{}}
	silent := slog.New(slog.DiscardHandler)
	r.clock = clock.New(clock.Options{Mode: c.Clock.Trust, Memory: r.memory(), Machine: o.machine})
	r.events = eventlog.New(eventlog.Options{DB: db, Clock: r.clock, Rows: c.Store.Events, Flush: c.Store.Flush, Log: silent})
	keys, err := auth.NewKeys([]byte(fmt.Sprintf("%-*s", auth.SecretSize, o.secret)))
	if err != nil {
		t.Fatal(err)
	}
	r.Book = New(Options{DB: db, Events: r.events, Clock: r.clock, Keys: keys, Log: silent, Calendars: &http.Client{Transport: o.calendars},
		Policy: c.Calendars.Policy(false), Presence: o.sensor.presence, Owner: func(string) (string, error) { return owner, nil },
		Notices: r.notice, Changed: r.count, Asked: func(string) { r.asked.Add(1) }})
	if err := db.View(func(tx *store.Tx) error { return r.Load(tx, c.Spaces) }); err != nil {
		t.Fatal(err)
	}
	if err := r.NoteNewSpaces(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

func parse(t testing.TB, yaml string) *config.Config {
	t.Helper()
	c, err := config.Parse("test.yaml", []byte(yaml), nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (r *rig) notice(_ *Room, gone []booking.Booking) eventlog.Stage {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gone = append(r.gone, gone...)
	if r.notices != nil {
		return r.notices()
	}
	return eventlog.Stage{}
}

func (r *rig) count(spaceID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes[spaceID]++
}

// Close lets the store go, and keeps what the clock has to know.
func (r *rig) Close() error {
	kept, err := json.Marshal(r.clock.Memory())
	return errors.Join(err, os.WriteFile(filepath.Join(r.dir, "clock.json"), kept, 0o600), r.db.Close())
}

func (r *rig) memory() (m clock.Memory) {
	text, err := os.ReadFile(filepath.Join(r.dir, "clock.json"))
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		r.t.Fatal(err)
	}
	return m
}

// startRig opens and runs a book until the test or stop ends it.
func startRig(t *testing.T, o rigOptions) *rig {
	t.Helper()
	r := openRig(t, o)
	r.run()
	return r
}

// run runs an opened book.
func (r *rig) run() {
	ctx, cancel := context.WithCancel(context.Background())
	var loops errgroup.Group
	loops.Go(func() error { return r.db.Run(ctx) })
	loops.Go(func() error { return r.events.Run(ctx) })
	loops.Go(func() error { return r.Run(ctx) })
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := errors.Join(loops.Wait(), r.Close(), store.Verify(filepath.Join(r.dir, "test.db"))); err != nil {
			r.t.Errorf("stopped with %v", err)
		}
	})
	r.t.Cleanup(r.stop)
}

// reread makes the spaces those of another configuration.
func (r *rig) reread(yaml string) error {
	r.t.Helper()
	w, err := r.Stage(r.t.Context(), parse(r.t, yaml).Spaces)
	if err != nil {
		return err
	}
	return errors.Join(r.events.Commit(r.t.Context(), eventlog.Stage{Write: w.Write, Show: w.Show, Release: w.Release},
		eventlog.Stage{Show: w.Announce}), r.NoteNewSpaces(r.t.Context()))
}

// wait lets virtual time pass.
func (r *rig) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// told returns the kinds of events so far.
func (r *rig) told() []string { return eventlogtest.Kinds(r.t, r.events) }

// bubble runs a test in virtual time.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}
