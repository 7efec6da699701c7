package health

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"roomgate/agent/clock"
	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/schedule"
	"roomgate/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a monitor on a real store, log and clock, of a building without spaces.
type rig struct {
	*Monitor
	t      *testing.T
	db     *store.DB
	events *eventlog.Log
	clock  *clock.Clock
	config *config.Config
	log    *slog.Logger
	said   bytes.Buffer
	// What is answered to the monitor.
	queues Queues
	cloud  Cloud
	sent   []Report
}

// inRig runs a test in virtual time, on a gateway that has just started.
func inRig(t *testing.T, f func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t, clock: clock.New(clock.Options{Mode: clock.Always}), config: &config.Config{}}
		r.config.Gateway.ID, r.config.Gateway.Name = "house-1", "House"
		r.config.HTTP.Listen, r.config.Clock.Trust = "192.0.2.7:8080", clock.Always
		r.config.Store.Events, r.config.Cloud.Heartbeat = 500, time.Minute
		dir := t.TempDir()
		r.log = slog.New(slog.NewTextHandler(&r.said, nil))
		var err error
		r.db, _, err = store.Open(t.Context(), filepath.Join(dir, "test.db"), store.Options{Names: slices.Concat(eventlog.Buckets(), device.Buckets(), schedule.Buckets()), Log: r.log})
		r.must(err)
		r.events = eventlog.New(eventlog.Options{DB: r.db, Clock: r.clock, Rows: r.config.Store.Events, Flush: time.Second, Log: r.log})
		r.fill(3) // of the run before
		r.Monitor, err = Open(t.Context(), Options{DB: r.db, Events: r.events, Clock: r.clock, Log: r.log, Config: r.config, DataDir: dir, Version: "1.2.3",
			Started: time.Now(), Spaces: func() []Space { return nil }, Queues: func() Queues { return r.queues }, Cloud: func() Cloud { return r.cloud },
			Send: func(_ context.Context, report Report) { r.sent = append(r.sent, report) }})
		r.must(err)
		f(t, r)
		r.must(r.db.Close())
	})
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// fill lets so many things happen.
func (r *rig) fill(n int) {
	r.t.Helper()
	r.must(r.events.Update(r.t.Context(), func(tx *store.Tx) (err error) {
		for range n {
			err = errors.Join(err, r.events.Tell(tx, eventlog.Record{Type: "test", Time: r.clock.Now(), Device: eventlog.GatewayDevice}))
		}
		return err
	}))
}

// find returns the events of a type.
func (r *rig) find(kind string) []eventlog.Event {
	r.t.Helper()
	all, _, err := r.events.Find(eventlog.Filter{Type: kind})
	r.must(err)
	return all
}
