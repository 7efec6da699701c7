package roomcontrol

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/device"
	"roomgate/agent/schedule"
	"roomgate/drivers"
	"roomgate/drivers/sim"
)

// house is a rig of the demo's rooms, with what people do in them.
type house struct {
	*rig
	world *sim.World
}

func (h *house) restart() { h.stop(); h.start(); h.pass(5 * time.Second) }

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
	b, _, err := h.Book.Create(context.Background(), booking.Booking{SpaceID: space, Start: clock(from), End: clock(to)}, schedule.Caller{})
	if err != nil {
		h.t.Fatal(err)
	}
	return b.ID
}

func (h *house) checkIn(id string) {
	h.t.Helper()
	if _, err := h.Book.CheckIn(context.Background(), id, schedule.Caller{}); err != nil {
		h.t.Fatal(err)
	}
	h.pass(3 * time.Second)
}

func (h *house) end(id string) {
	h.t.Helper()
	if _, err := h.Book.End(context.Background(), id, schedule.Caller{}); err != nil {
		h.t.Fatal(err)
	}
	h.pass(3 * time.Second)
}

// hold sets the state of a space.
func (h *house) hold(space string, status booking.Status) {
	h.t.Helper()
	if _, err := h.Book.Hold(context.Background(), space, booking.Hold{Status: status}); err != nil {
		h.t.Fatal(err)
	}
	h.pass(3 * time.Second)
}

// is moves the simulated world and waits until it was noticed.
func (h *house) is(space, subject, what string) {
	h.t.Helper()
	if _, err := h.world.Control(space, subject, what); err != nil {
		h.t.Fatal(err)
	}
	h.pass(2 * time.Second)
}

// command gives a command as a person, and waits for the outcome.
func (h *house) command(space, deviceType, sub, action string, value any) {
	h.t.Helper()
	c := device.Command{Space: space, DeviceType: deviceType, SubDevice: sub, Action: action, Via: device.ViaHTTP}
	if value != nil {
		c.Value, _ = json.Marshal(value)
	}
	r, err := h.commands.Do(context.Background(), c)
	if err != nil || r.State != device.Done {
		h.t.Fatalf("%s of %s: %+v, %v", action, deviceType, r, err)
	}
	h.pass(3 * time.Second)
}

// sees wants a device's value now; for a ring that is its colour.
func (h *house) sees(space, deviceType, sub, want string) {
	h.t.Helper()
	r, err := h.status(space, deviceType, sub)
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

func (h *house) ring(space, want string) {
	h.t.Helper()
	h.sees(space, drivers.TypeO3, drivers.SubRing, want)
}
func (h *house) light(space, want string) { h.t.Helper(); h.sees(space, drivers.TypeLight, "", want) }
func (h *house) door(space, want string)  { h.t.Helper(); h.sees(space, drivers.TypeLock, "", want) }

// gave wants these commands of the schedule to a device of a space since the
// start of the test.
func (h *house) gave(space, deviceType string, want ...string) {
	h.t.Helper()
	if got := h.given(space, deviceType); !slices.Equal(got, want) {
		h.t.Errorf("the schedule commanded %q of %s, want %q", got, deviceType, want)
	}
}
