package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/clock"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/agent/webhook/webhooktest"
	"roomgate/store"
)

// Two organizations, the first of which has the one meeting space.
const (
	owner   = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4ac0"
	another = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4ac9"
	room    = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01"
)

// alerts are the events of devices that the rig's webhooks get.
var alerts = []string{"temperatureAlert", "doorForced", "doorHeldOpen"}

// letters is where the rig's notices go.
var letters = store.NewTable[Notice]("letters")

// rig is a dispatcher with a real store, log and clock, and keys.
type rig struct {
	*Dispatcher
	t       testing.TB
	path    string // of the database
	out     *webhooktest.Receivers
	said    *bytes.Buffer // the log
	stop    func()
	flooded int
}

type rigOptions struct {
	dir    string // empty: a new one
	trust  string // of the clock; empty: always
	secret string // of the device; empty: the usual one
}

// bubble runs a test in virtual time, which begins at midnight of 2000-01-01.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

func on(hour, minute int) time.Time { return time.Date(2000, 1, 1, hour, minute, 0, 0, time.UTC) }

// openRig opens a dispatcher without running it.
func openRig(t testing.TB, o rigOptions) *rig {
	t.Helper()
	if o.dir == "" {
		o.dir = t.TempDir()
	}
	r := &rig{t: t, path: filepath.Join(o.dir, "test.db"), out: &webhooktest.Receivers{}, said: &bytes.Buffer{}, stop: func() {}}
	log := slog.New(slog.NewTextHandler(r.said, nil))
	keys, err := auth.NewKeys([]byte(fmt.Sprintf("%-*s", auth.SecretSize, o.secret)))
	r.must(err)
	db, _, err := store.Open(t.Context(), r.path, store.Options{Log: log})
	r.must(err)
	mode := o.trust
	if mode == "" {
		mode = clock.Always
	}
	c := clock.New(clock.Options{Mode: mode})
	events := eventlog.New(eventlog.Options{DB: db, Clock: c, Rows: 100_000, Flush: time.Second, Log: log})
	r.Dispatcher, err = Open(t.Context(), Options{DB: db, Events: events, Clock: c, Keys: keys, Log: log, Client: r.out.Client(),
		MaxDeliveries: Budget(store.DefaultMaxSize), Flush: time.Second, Alerts: alerts,
		Organization: func(id string) error {
			if id != owner && id != another {
				return problem.New(problem.NotFound, "organization_id", "is not known")
			}
			return nil
		},
		Owner: func(spaceID string) (string, error) {
			if spaceID != room {
				return "", problem.New(problem.NotFound, "meeting_space_id", "is not a meeting space of this building")
			}
			return owner, nil
		},
		Notify: func(all []Notice) eventlog.Stage {
			return eventlog.Stage{Write: func(tx *store.Tx) (err error) {
				for _, n := range all {
					err = errors.Join(err, letters.Put(tx, fmt.Sprint(letters.Len(tx)), n))
				}
				return err
			}}
		}})
	r.must(err)
	return r
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// startRig opens and runs a dispatcher until the test or stop ends it.
func startRig(t testing.TB, o rigOptions) *rig {
	t.Helper()
	r := openRig(t, o)
	r.run()
	return r
}

// run runs an opened dispatcher.
func (r *rig) run() {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := errors.Join(<-ended, r.close(), store.Verify(r.path)); err != nil {
			r.t.Errorf("Run: %v", err)
		}
	})
	r.t.Cleanup(r.stop)
}

func (r *rig) close() error { return r.db.Close() }

// wait lets virtual time pass.
func (r *rig) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// happens puts an event into the log, as the building does.
func (r *rig) happens(all ...eventlog.Record) {
	r.t.Helper()
	r.must(r.events.Update(context.Background(), func(tx *store.Tx) (err error) {
		for _, e := range all {
			e.Time = r.clock.Now()
			err = errors.Join(err, r.events.Tell(tx, e))
		}
		return err
	}))
}

// booked is an event of a booking in the room at an hour.
func booked(event, id, organization string, hour int) eventlog.Record {
	return eventlog.Record{Type: event, Space: room, Device: "meeting-space", Details: map[string]any{"booking_id": id, "organization_id": organization,
		"start_time": on(hour, 0).Format(eventlog.TimeLayout), "end_time": on(hour, 30).Format(eventlog.TimeLayout),
		"organizer": Organizer{"Ada", "ada@example.com"}}}
}

// book has the owner book the room.
func (r *rig) book(id string, hour int) {
	r.t.Helper()
	r.happens(booked(BookingCreated, id, owner, hour))
}

// flood has so many more bookings happen at once.
func (r *rig) flood(n int) {
	r.t.Helper()
	all := make([]eventlog.Record, n)
	for i := range all {
		all[i] = booked(BookingCreated, fmt.Sprintf("f%05d", r.flooded+i), owner, 40+r.flooded+i)
	}
	r.flooded += n
	r.happens(all...)
}

// hook registers a webhook at NAME.example.com.
func (r *rig) hook(name, organization string, events ...string) Info {
	r.t.Helper()
	w, _, err := r.Create(context.Background(), Request{OrganizationID: organization, URL: "https://" + name + ".example.com/in?token=hidden",
		Events: events, Secret: Secret("the secret of " + name)})
	r.must(err)
	return w
}

func (r *rig) state(id string) Info {
	r.t.Helper()
	w, err := r.Get(id)
	r.must(err)
	return w
}

func (r *rig) deliveries(id string) []Delivery {
	r.t.Helper()
	all, _, err := r.Deliveries(id, 200, "")
	r.must(err)
	return all
}

// found returns the events of a kind so far.
func (r *rig) found(kind string) []eventlog.Event {
	r.t.Helper()
	events, _, err := r.events.Find(eventlog.Filter{Type: kind, Limit: 1000})
	r.must(err)
	return events
}

func (r *rig) happened(kind string) int { return len(r.found(kind)) }

// wantLines checks what has come to the receivers since the last time.
func (r *rig) wantLines(what string, want ...string) {
	r.t.Helper()
	got := r.out.Lines()
	slices.Sort(got)
	if !slices.Equal(got, want) {
		r.t.Errorf("%s: %q came, want %q", what, strings.Join(got, ", "), want)
	}
}
