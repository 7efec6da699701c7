package agent

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/device/devicetest"
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

// script is scripted hardware by the names of the tests here.
type script struct {
	*devicetest.Script
	release chan struct{} // lets a hanging call go
}

func (s *script) set(fault string)       { s.Set(fault) }
func (s *script) show(sub, value string) { s.Show(sub, value) }
func (s *script) effects() []string      { return s.Effects() }

// bench holds the scripts of one building by device.
type bench map[string]*script

func newBench() bench {
	b := bench{}
	for name, s := range devicetest.NewBench() {
		b.add(name, s)
	}
	return b
}

func (b bench) add(name string, s *devicetest.Script) { b[name] = &script{s, s.Release} }

func (b bench) kinds() []drivers.Kind {
	all := devicetest.Bench{}
	for name, s := range b {
		all[name] = s.Script
	}
	return all.Kinds()
}

// noBuses is a board without anything; scripted drivers need none.
type noBuses struct {
	drivers.Buses
	page drivers.Page
}

func (b *noBuses) Page(string) *drivers.Page { return &b.page }

// rig is a running building under test.
type rig struct {
	*Agent
	t     testing.TB
	bench bench
	stop  func()
}

type rigOptions struct {
	dir, yaml, key string
	log            *slog.Logger
	bench          bench
	dial           func(ctx context.Context, network, address string) (net.Conn, error)
	push           *http.Client
	mail           Dialer
}

// openRig opens a building without running it.
func openRig(t testing.TB, o rigOptions) *rig {
	t.Helper()
	if o.bench == nil {
		o.bench = newBench()
	}
	if o.yaml == "" {
		o.yaml = building
	}
	if o.dir == "" {
		o.dir = t.TempDir()
	}
	c, err := config.Parse("test.yaml", []byte(o.yaml), o.bench.kinds())
	if err != nil {
		t.Fatal(err)
	}
	a, err := Open(t.Context(), Options{Config: c, Buses: &noBuses{}, DataDir: o.dir, SystemKey: o.key, Version: "test", Dial: o.dial, Push: o.push, MailDial: o.mail, Log: o.log})
	if err != nil {
		t.Fatal(err)
	}
	return &rig{Agent: a, t: t, bench: o.bench, stop: func() {}}
}

// startRig opens and runs a building until the test or stop ends it.
func startRig(t *testing.T, o rigOptions) *rig {
	t.Helper()
	r := openRig(t, o)
	r.run()
	return r
}

// run runs an opened building.
func (r *rig) run() {
	t := r.t
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
		if err := r.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if err := store.Verify(filepath.Join(r.options.DataDir, Database)); err != nil {
			t.Errorf("the database after the test: %v", err)
		}
	})
	t.Cleanup(r.stop)
}

// wait lets virtual time pass.
func (r *rig) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (r *rig) status(spaceID, deviceType, sub string) device.Record {
	r.t.Helper()
	got, err := r.Site.Status(spaceID, deviceType, sub)
	if err != nil {
		r.t.Fatal(err)
	}
	return got.Record
}

// told returns the events so far as "kind device".
func (r *rig) told() []string { return eventlogtest.Told(r.t, r.Events) }

// bubble runs a test in virtual time.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// moreHardware is a bench with a door and a hub that no file names.
func moreHardware() bench {
	b := newBench()
	b.add("door-3", devicetest.New(map[string]string{"": drivers.Closed}))
	b.add("hub-2", devicetest.New(map[string]string{drivers.SubTemperature: "20", drivers.SubRing: drivers.Off}))
	return b
}

func (r *rig) refuses(what string, code problem.Code, field string, err error) {
	r.t.Helper()
	if e := device.AsError(err); err == nil || e.Code != code || e.Field != field {
		r.t.Errorf("%s: %v", what, err)
	}
}
