package health

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/device/devicetest"
	"roomgate/agent/eventlog"
	"roomgate/agent/schedule"
	"roomgate/drivers"
	"roomgate/store"
)

// rooms are a room with a light and a hub, and one without devices.
const rooms = `
gateway: {id: test}
spaces:
  - id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01
    name: Aurora
    devices:
      - {id: light-1, type: light, driver: scripted, poll: 2s, timeout: 1s, options: {name: light-1}}
      - {id: hub-1, type: o3-sensor, driver: scripted-hub, poll: 2s, timeout: 1s, options: {name: hub-1}}
  - {id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a02, name: Borealis}
`

// addSpaces gives the building of a rig the rooms above, whose devices do not
// run yet. presence is what is known of people.
func (r *rig) addSpaces(presence *string) (bench devicetest.Bench, book *schedule.Book, devices []*device.Device) {
	r.t.Helper()
	bench = devicetest.NewBench()
	c, err := config.Parse("test.yaml", []byte(rooms), bench.Kinds())
	r.must(err)
	commands := device.NewCommands(device.CommandsOptions{DB: r.db, Events: r.events, Clock: r.clock, Log: r.log, TTL: time.Minute})
	seen := func() schedule.Presence { return schedule.Presence{Value: *presence} }
	book = schedule.New(schedule.Options{DB: r.db, Events: r.events, Clock: r.clock, Log: r.log, Calendars: &http.Client{},
		Presence: func(string) (schedule.Presence, bool) { return seen(), false }, Owner: func(string) (string, error) { return "", nil },
		Changed: func(string) {}, Notices: func(*schedule.Room, []booking.Booking) eventlog.Stage { return eventlog.Stage{} }})
	var all []Space
	r.must(r.db.View(func(tx *store.Tx) error { return book.Load(tx, c.Spaces) }))
	r.must(r.db.View(func(tx *store.Tx) error {
		for _, s := range c.Spaces {
			one := Space{Name: s.Name, Room: book.Room(s.ID), Presence: seen}
			for _, dc := range s.Devices {
				d, err := device.Load(tx, device.Options{Config: dc, SpaceID: s.ID, Events: r.events, Commands: commands, Log: r.log,
					Changed: func() {}, Entered: func(drivers.Secret) bool { return true }})
				if err != nil {
					return err
				}
				one.Devices = append(one.Devices, d)
				devices = append(devices, d)
			}
			all = append(all, one)
		}
		return nil
	}))
	r.o.Spaces = func() []Space { return all }
	return bench, book, devices
}

// The gateway is ready once every device was observed, or could not be; a device
// that does not answer is told of, and one that hangs is no progress.
func TestReadyAndProgressOfDevices(t *testing.T) {
	inRig(t, func(t *testing.T, r *rig) {
		bench, _, devices := r.addSpaces(new(string))
		bench["light-1"].Set("vanish")
		if err := r.Ready(); err == nil || err.Error() != "light in Aurora has not been observed yet" {
			t.Errorf("before any device was observed: %v", err)
		}
		ctx, stop := context.WithCancel(t.Context())
		var loops sync.WaitGroup
		for _, d := range devices {
			loops.Go(func() { d.Run(ctx) })
		}
		time.Sleep(5 * time.Second)
		if err := r.Ready(); err != nil {
			t.Errorf("a missing device keeps the gateway from being ready: %v", err)
		}
		if h := r.Report(); h.DevicesOnline != 1 || h.DevicesOffline != 1 {
			t.Errorf("%d online, %d offline", h.DevicesOnline, h.DevicesOffline)
		}
		var b bytes.Buffer
		r.WriteMetrics(&b)
		for _, line := range []string{`roomgate_device_online{meeting_space="Aurora",device="light"} 0`, `roomgate_device_online{meeting_space="Aurora",device="o3-sensor"} 1`} {
			if !strings.Contains(b.String(), line+"\n") {
				t.Errorf("the metrics lack %q", line)
			}
		}
		if err := r.Progress(); err != nil {
			t.Error(err)
		}
		stop()
		loops.Wait()
		time.Sleep(24 * time.Hour)
		if err := r.Progress(); err == nil || !strings.HasPrefix(err.Error(), "the loop of light in Aurora has not moved since ") {
			t.Errorf("a loop that does not move: %v", err)
		}
	})
}

// A restart disturbs who meets, who soon will, and who is there.
func TestBusy(t *testing.T) {
	inRig(t, func(t *testing.T, r *rig) {
		var presence string
		_, book, _ := r.addSpaces(&presence)
		begin := time.Now().UTC().Truncate(time.Hour).Add(9 * time.Hour)
		_, _, err := book.Create(t.Context(), booking.Booking{ID: "a", Title: "a", SpaceID: "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a02", Start: begin, End: begin.Add(time.Hour)}, schedule.Caller{})
		r.must(err)
		for _, c := range []struct {
			at             time.Duration // after the meeting begins
			presence, want string
		}{
			{-time.Hour, schedule.Vacant, ""},
			{-time.Hour, schedule.Occupied, "there are people in Aurora"},
			{-16 * time.Minute, schedule.Unknown, ""},
			{-15 * time.Minute, schedule.Unknown, "Borealis has a meeting at 09:00"},
			{time.Minute, schedule.Vacant, "Borealis has a meeting until 10:00"},
			{59 * time.Minute, schedule.Unknown, "Borealis has a meeting until 10:00"},
			{61 * time.Minute, schedule.Unknown, ""},
		} {
			time.Sleep(time.Until(begin.Add(c.at)))
			presence = c.presence
			if got := r.Busy(); got != c.want {
				t.Errorf("%v: %q, want %q", c.at, got, c.want)
			}
		}
	})
}
