package agent

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/schedule"
	"roomgate/drivers"
)

// controlled has a room whose light and door follow its schedule. The light
// comes later.
const controlled = `
gateway: {id: test}
clock: {trust: always}
spaces:
  - id: ` + room + `
    name: Aurora
    follow: {light: true, door: true, off_after: 2m}
    devices:
      - {id: door-1, type: lock, driver: scripted-lock, poll: 2s, timeout: 1s, options: {name: door-1}}
      - {id: hub-1, type: o3-sensor, driver: scripted-hub, poll: 2s, timeout: 1s, options: {name: hub-1}}
`

// The devices of a room follow its schedule, also one that comes while the
// building runs. What they do is roomcontrol's.
func TestRoomFollowsItsSchedule(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: controlled})
		r.wait(5 * time.Second)
		light := json.RawMessage(`{"type":"light","driver":"scripted","options":{"name":"light-1"}}`)
		if _, err := r.Site.AddDevice(t.Context(), room, "light-1", light, "test"); err != nil {
			t.Fatal(err)
		}
		r.wait(time.Minute)
		did := func(door, light []string) {
			t.Helper()
			if got := r.bench["door-1"].effects(); !slices.Equal(got, door) {
				t.Errorf("the door was told to %q, want %q", got, door)
			}
			if got := r.bench["light-1"].effects(); !slices.Equal(got, light) {
				t.Errorf("the light was told to %q, want %q", got, light)
			}
		}
		did(nil, nil)
		b, _, err := r.Bookings.Create(t.Context(), booking.Booking{SpaceID: room, Source: booking.WalkUp}, schedule.Caller{})
		if err != nil {
			t.Fatal(err)
		}
		r.bench["hub-1"].show(drivers.SubOccupancy, drivers.Occupied)
		r.wait(5 * time.Second)
		did([]string{drivers.ActOpen}, []string{drivers.ActOn})
		if _, err := r.Bookings.End(t.Context(), b.ID, schedule.Caller{}); err != nil {
			t.Fatal(err)
		}
		r.wait(5 * time.Minute)
		did([]string{drivers.ActOpen, drivers.ActClose}, []string{drivers.ActOn}) // somebody is still there
		r.bench["hub-1"].show(drivers.SubOccupancy, drivers.Vacant)
		r.wait(3 * time.Minute)
		did([]string{drivers.ActOpen, drivers.ActClose}, []string{drivers.ActOn, drivers.ActOff})
	})
}
