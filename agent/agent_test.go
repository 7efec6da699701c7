package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"roomgate/agent/config"
	"roomgate/agent/eventlog"
	"roomgate/drivers"
	"roomgate/store"

	"path/filepath"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	room      = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01"
	otherRoom = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a02"
)

// building has a light in each of two rooms, and a hub in the first.
const building = `
gateway: {id: test}
clock: {trust: always}
store: {events: 500}
spaces:
  - id: ` + room + `
    name: Aurora
    devices:
      - {id: light-1, type: light, driver: scripted, poll: 2s, timeout: 1s, options: {name: light-1}}
      - {id: hub-1, type: o3-sensor, driver: scripted-hub, poll: 2s, timeout: 1s, options: {name: hub-1}}
  - id: ` + otherRoom + `
    name: Borealis
    devices:
      - {id: light-2, type: light, driver: scripted, poll: 2s, timeout: 1s, options: {name: light-2}}
`

// script is the hardware of a scripted driver: a driver of the worst kind,
// which hangs, panics, lies or vanishes when the test says so.
type script struct {
	mu      sync.Mutex
	value   map[string]string // by sub-device
	gone    map[string]error  // why a sub-device has no value
	fault   string            // "", "hang", "panic", "lie", "vanish", "ignore"
	done    []string          // the orders that took effect
	late    time.Duration     // the evidence
	unseen  error             // there is none
	opened  int
	polled  int
	release chan struct{} // lets a hanging call go
}

func (s *script) set(fault string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

func (s *script) show(sub, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.value[sub] = value
}

// prove has the evidence of orders be this much later than they are, or wrong.
func (s *script) prove(late time.Duration, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late, s.unseen = late, why
}

// lose has a sub-device say that it has no value; nil ends that.
func (s *script) lose(sub string, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = map[string]error{sub: why}
}

func (s *script) effects() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.done)
}

// suffer plays the fault.
func (s *script) suffer() error {
	s.mu.Lock()
	fault := s.fault
	s.mu.Unlock()
	switch fault {
	case "hang":
		<-s.release
	case "panic":
		panic("driver bug")
	case "vanish":
		return fmt.Errorf("wire cut: %w", drivers.ErrOffline)
	case "flaky":
		return errors.New("bad checksum")
	}
	return nil
}

// bench holds the scripts of one building by device.
type bench map[string]*script

func newBench() bench {
	b := bench{}
	for _, name := range []string{"light-1", "light-2"} {
		b[name] = &script{value: map[string]string{"": drivers.Off}, release: make(chan struct{})}
	}
	b["door-1"] = &script{value: map[string]string{"": drivers.Closed}, release: make(chan struct{})}
	b["hub-1"] = &script{value: map[string]string{drivers.SubTemperature: "21.5", drivers.SubBuzzer: drivers.Off,
		drivers.SubOccupancy: drivers.Vacant, drivers.SubRing: drivers.Off}, release: make(chan struct{})}
	return b
}

func (b bench) kinds() []drivers.Kind {
	return []drivers.Kind{
		{Name: "scripted", Type: drivers.TypeLight, Options: func() drivers.Options { return &scriptOptions{bench: b} }},
		{Name: "scripted-lock", Type: drivers.TypeLock, Options: func() drivers.Options { return &scriptOptions{bench: b} }},
		{Name: "scripted-hub", Type: drivers.TypeO3, Options: func() drivers.Options { return &scriptOptions{bench: b} }},
	}
}

type scriptOptions struct {
	Name  string `yaml:"name"`
	bench bench
}

func (o *scriptOptions) Check() error { return nil }
func (o *scriptOptions) Open(context.Context, drivers.Buses) (drivers.Driver, error) {
	s := o.bench[o.Name]
	if err := s.suffer(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.opened++
	s.mu.Unlock()
	return &scriptDriver{s}, nil
}

type scriptDriver struct{ *script }

// isLock says whether the script is of a door.
func (s *script) isLock() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.value[""] == drivers.Open || s.value[""] == drivers.Closed
}

var onOff = []drivers.Action{{Name: drivers.ActOn}, {Name: drivers.ActOff},
	{Name: drivers.ActIntensity, Params: []drivers.Param{{Name: drivers.ValueName, Kind: drivers.KindInteger, Max: 100}}}}

func (d *scriptDriver) Describe() drivers.Description {
	if d.isLock() {
		return drivers.Description{Type: drivers.TypeLock, Driver: "scripted-lock", Actions: []drivers.Action{{Name: drivers.ActOpen}, {Name: drivers.ActClose}}}
	}
	if _, hub := d.value[drivers.SubRing]; hub {
		return drivers.Description{Type: drivers.TypeO3, Driver: "scripted-hub", Subs: []drivers.SubDevice{
			{Name: drivers.SubTemperature}, {Name: drivers.SubOccupancy}, {Name: drivers.SubBuzzer, Actions: onOff}, {Name: drivers.SubRing, Actions: onOff}}}
	}
	return drivers.Description{Type: drivers.TypeLight, Driver: "scripted", Actions: onOff}
}

func (d *scriptDriver) Poll(context.Context) ([]drivers.Status, error) {
	if err := d.suffer(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.polled++
	var all []drivers.Status
	for sub, value := range d.value {
		if d.fault == "lie" {
			value = "purple"
		}
		all = append(all, drivers.Status{Sub: sub, Value: value, ObservedAt: time.Now(), Source: "script", Err: d.gone[sub]})
	}
	return all, nil
}

func (d *scriptDriver) Do(_ context.Context, c drivers.Command) (drivers.Status, error) {
	if err := d.suffer(); err != nil {
		return drivers.Status{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fault == "ignore" {
		return drivers.Status{}, fmt.Errorf("%w: the lamp is still %s", drivers.ErrNotConfirmed, d.value[c.Sub])
	}
	d.done = append(d.done, c.Action)
	d.value[c.Sub] = drivers.OnOff(c.Action != drivers.ActOff)
	if c.Action == drivers.ActOpen {
		d.value[c.Sub] = drivers.Open
	} else if c.Action == drivers.ActClose {
		d.value[c.Sub] = drivers.Closed
	}
	return drivers.Status{Sub: c.Sub, Value: d.value[c.Sub], ObservedAt: time.Now().Add(d.late), Source: "script", Err: d.unseen}, nil
}

func (d *scriptDriver) Close() error { return nil }

// Watch hangs with the device, whatever its context says.
func (d *scriptDriver) Watch(ctx context.Context, _ func(drivers.Event)) error {
	<-ctx.Done()
	_ = d.suffer()
	return ctx.Err()
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

func (r *rig) status(spaceID, deviceType, sub string) Record {
	r.t.Helper()
	got, err := r.Status(spaceID, deviceType, sub)
	if err != nil {
		r.t.Fatal(err)
	}
	return got.Record
}

// told returns the events so far as "type device value".
func (r *rig) told() []string {
	r.t.Helper()
	events, _, err := r.Events.Find(eventlog.Filter{Limit: 1000})
	if err != nil {
		r.t.Fatal(err)
	}
	var out []string
	for _, e := range events {
		name := e.SubDevice
		if name == "" {
			name = e.DeviceType
		}
		out = append(out, strings.TrimSpace(e.Type+" "+name))
	}
	return out
}

// bubble runs a test in virtual time.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

func (s *script) polls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.polled
}
