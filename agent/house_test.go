package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent"
	"roomgate/agent/booking"
	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/schedule"
	"roomgate/configs"
	"roomgate/drivers"
	"roomgate/drivers/all"
	"roomgate/drivers/sim"
	"roomgate/drivers/sim/plan"
	"roomgate/store"
)

const (
	aurora   = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01" // pulse lock
	borealis = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a02" // lock that holds, hub of parts
)

// house is a building of the demo's rooms in virtual time, which begins at
// midnight.
type house struct {
	*agent.Agent
	t     *testing.T
	world *sim.World
	dir   string
	yaml  string
	stop  func()
}

// follows starts a house of which texts of the configuration are replaced: the
// second of each pair stands for the first.
func follows(t *testing.T, yaml string, replace ...string) *house {
	t.Helper()
	// The hub on MQTT is left out: it says something each second of a long day.
	before, after, _ := strings.Cut(string(configs.DemoWorld), "  - {space: aurora, device: o3-sensor")
	_, after, _ = strings.Cut(after, "\n")
	world, err := plan.Parse([]byte(before + after))
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, world: world, dir: t.TempDir(), yaml: strings.NewReplacer(replace...).Replace(yaml)}
	t.Cleanup(world.Close)
	t.Cleanup(func() { h.stop() })
	h.start()
	return h
}

func (h *house) start() {
	t := h.t
	t.Helper()
	c, err := config.Parse("rooms.yaml", []byte(h.yaml), all.All())
	if err != nil {
		t.Fatal(err)
	}
	a, err := agent.Open(context.Background(), agent.Options{Config: c, Buses: h.world, DataDir: h.dir, SystemKey: "key", Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	h.Agent = a
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	h.stop = sync.OnceFunc(func() {
		cancel()
		if err := errors.Join(<-ended, a.Close(), store.Verify(filepath.Join(h.dir, agent.Database))); err != nil {
			t.Errorf("the building ended with an error: %v", err)
		}
	})
	h.pass(5 * time.Second)
}

func (h *house) restart() { h.stop(); h.start() }

// pass lets virtual time go by.
func (h *house) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// at lets it go by until a time of the day, UTC.
func (h *house) at(clock string) {
	h.t.Helper()
	of, err := time.Parse("15:04:05", clock)
	if err != nil {
		of, err = time.Parse("15:04", clock)
	}
	now := time.Now().UTC()
	to := time.Date(now.Year(), now.Month(), now.Day(), of.Hour(), of.Minute(), of.Second(), 0, time.UTC)
	if err != nil || to.Before(now) {
		h.t.Fatalf("it cannot become %s: it is %s", clock, now)
	}
	h.pass(to.Sub(now))
}

// book books a space today from one time of the day to the other.
func (h *house) book(space, from, to string) string {
	h.t.Helper()
	day := time.Now().UTC().Truncate(24 * time.Hour)
	clock := func(s string) time.Time {
		of, err := time.Parse("15:04", s)
		if err != nil {
			h.t.Fatal(err)
		}
		return day.Add(time.Duration(of.Hour())*time.Hour + time.Duration(of.Minute())*time.Minute)
	}
	b, _, err := h.Bookings.Create(context.Background(), booking.Booking{SpaceID: space, Start: clock(from), End: clock(to)}, schedule.Caller{})
	if err != nil {
		h.t.Fatal(err)
	}
	return b.ID
}

func (h *house) checkIn(id string) {
	h.t.Helper()
	if _, err := h.Bookings.CheckIn(context.Background(), id, schedule.Caller{}); err != nil {
		h.t.Fatal(err)
	}
	h.pass(3 * time.Second)
}

// hold sets the state of a space.
func (h *house) hold(space string, status booking.Status) {
	h.t.Helper()
	if _, err := h.Bookings.Hold(context.Background(), space, booking.Hold{Status: status}); err != nil {
		h.t.Fatal(err)
	}
	h.pass(3 * time.Second)
}

// orders gives an order as a person, and waits for the outcome.
func (h *house) orders(space, deviceType, sub, action string, value any) {
	h.t.Helper()
	c := device.Command{Space: space, DeviceType: deviceType, SubDevice: sub, Action: action, Via: device.ViaHTTP}
	if value != nil {
		c.Value, _ = json.Marshal(value)
	}
	r, err := h.Commands.Do(context.Background(), c)
	if err != nil || r.State != device.Done {
		h.t.Fatalf("%s of %s: %+v, %v", action, deviceType, r, err)
	}
	h.pass(3 * time.Second)
}

// sees wants a device's value now; for a ring that is its colour.
func (h *house) sees(space, deviceType, sub, want string) {
	h.t.Helper()
	r, err := h.Status(space, deviceType, sub)
	got := r.Value
	if color, ok := r.Details["color"].(string); sub == drivers.SubRing && r.Value == drivers.On && ok {
		got = color
	}
	if r.Status == device.Offline {
		got = r.Status
	}
	if err != nil || got != want {
		h.t.Errorf("%s: %s %s is %q, %v, want %q (%s)", time.Now().UTC().Format("15:04:05"), deviceType, sub, got, err, want, r.Reason)
	}
}

func (h *house) light(space, want string) { h.t.Helper(); h.sees(space, drivers.TypeLight, "", want) }
func (h *house) door(space, want string)  { h.t.Helper(); h.sees(space, drivers.TypeLock, "", want) }
