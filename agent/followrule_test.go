package agent

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/device"
	"roomgate/agent/schedule"
	"roomgate/drivers"
)

// seen is a sight of a space whose current meeting has checked in age ago.
func seen(b booking.Booking, age time.Duration) sight {
	now := time.Now()
	b.State, b.CheckedInAt = booking.CheckedIn, now.Add(-age)
	b.Start, b.End = now.Add(-20*time.Minute), now.Add(20*time.Minute)
	return sight{now: now, trusted: true, presence: schedule.Unknown, since: now, rules: booking.Default(),
		sign: booking.Sign{Status: booking.Occupied, Current: &b}}
}

func lockIs(value string) device.Reading {
	return device.Reading{Record: device.Record{Device: drivers.TypeLock, Value: value, Status: device.Online}}
}

func TestDoorJudgesACheckIn(t *testing.T) {
	b := booking.Booking{ID: "b"}
	for name, c := range map[string]struct {
		play func(*sight)
		age  time.Duration
		want string
	}{
		"now":                        {func(*sight) {}, 0, drivers.ActOpen},
		"by the cloud, on its way":   {func(*sight) {}, 30 * time.Second, drivers.ActOpen},
		"by the cloud, an old one":   {func(*sight) {}, 2 * time.Minute, ""},
		"of a clock that is ahead":   {func(*sight) {}, -2 * time.Minute, ""},
		"before this run":            {func(v *sight) { v.first = true }, 0, ""},
		"by a clock nobody trusts":   {func(v *sight) { v.trusted = false }, 0, ""},
		"in a room that is disabled": {func(v *sight) { v.sign.Status = booking.Disabled }, 0, ""},
		"of the meeting after the current one": {func(v *sight) {
			v.sign.Next, v.sign.Current = v.sign.Current, &booking.Booking{ID: "a", State: booking.Booked, End: v.now.Add(time.Minute)}
		}, 0, ""},
		"too early": {func(v *sight) {
			v.sign.Next, v.sign.Current = v.sign.Current, nil
			v.sign.Next.Start = v.now.Add(11 * time.Minute)
		}, 0, ""},
		"early": {func(v *sight) {
			v.sign.Next, v.sign.Current = v.sign.Current, nil
			v.sign.Next.Start = v.now.Add(9 * time.Minute)
		}, 0, drivers.ActOpen},
		"of a meeting that is over": {func(v *sight) { v.sign.Current.End = v.now }, 0, ""},
	} {
		d := newDoor(5 * time.Minute)
		v := seen(b, c.age)
		c.play(&v)
		d.observe(v, lockIs(drivers.Closed))
		if w := d.wish(v, lockIs(drivers.Closed)); w.action != c.want {
			t.Errorf("a check-in %s: the door is told to %q, want %q", name, w.action, c.want)
		}
	}
}

// What was refused once is not granted later, when the reason is gone.
func TestDoorForgetsNoRefusal(t *testing.T) {
	for name, spoil := range map[string]func(*sight){
		"a start":    func(v *sight) { v.first = true },
		"no trust":   func(v *sight) { v.trusted = false },
		"disabling":  func(v *sight) { v.sign.Status = booking.Disabled },
		"an old one": func(v *sight) { v.sign.Current.CheckedInAt = v.now.Add(-time.Hour) },
	} {
		d := newDoor(5 * time.Minute)
		v := seen(booking.Booking{ID: "b"}, 0)
		good := *v.sign.Current
		spoil(&v)
		d.observe(v, lockIs(drivers.Closed))
		v.first, v.trusted, v.sign.Status, v.sign.Current = false, true, booking.Occupied, &good
		v.now = v.now.Add(time.Second)
		d.observe(v, lockIs(drivers.Closed))
		if w := d.wish(v, lockIs(drivers.Closed)); w.action != "" {
			t.Errorf("after %s the door is told to %s", name, w.action)
		}
	}
}

// A door that is open and nobody's after a start may be ours, and is locked; so
// is one whose clock is not trusted any more.
func TestDoorFailsTowardsClosed(t *testing.T) {
	for name, spoil := range map[string]func(*sight){
		"a start without a meeting": func(v *sight) { v.first, v.sign.Current = true, nil },
		"a clock nobody trusts":     func(v *sight) { v.trusted = false },
		"a disabled room":           func(v *sight) { v.sign.Status = booking.Disabled },
		"the end":                   func(v *sight) { v.sign.Current = nil },
	} {
		d := newDoor(5 * time.Minute)
		v := seen(booking.Booking{ID: "b"}, 0)
		if name != "a start without a meeting" {
			d.observe(v, lockIs(drivers.Open))
		}
		spoil(&v)
		d.observe(v, lockIs(drivers.Open))
		w := d.wish(v, lockIs(drivers.Open))
		if w.action != drivers.ActClose || !w.always {
			t.Errorf("after %s the door is told to %q", name, w.action)
		}
		d.wish(v, lockIs(drivers.Closed)) // it is locked
		if w := d.wish(v, lockIs(drivers.Open)); w.action != "" {
			t.Errorf("after %s the door that somebody opens is told to %s", name, w.action)
		}
	}
}

// A device that never follows gets few orders.
func TestNoStormOfOrders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: followed})
		r.bench["light-1"].set("ignore")
		r.wait(5 * time.Second)
		if _, _, err := r.Bookings.Create(t.Context(), booking.Booking{SpaceID: room, Source: booking.WalkUp}, schedule.Caller{}); err != nil {
			t.Fatal(err)
		}
		r.wait(25 * time.Minute)
		tries := 0
		for _, e := range r.told() {
			if e == "commandCompleted light" {
				tries++
			}
		}
		if tries != usualTries {
			t.Errorf("%d orders to a light that follows none, want %d", tries, usualTries)
		}
	})
}

// A hub whose ring has no colours gets no orders, and is no trouble.
func TestRingWithoutColours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: followed})
		r.wait(20 * time.Minute)
		if done := r.bench["hub-1"].effects(); len(done) != 0 {
			t.Errorf("it was told to %q", done)
		}
	})
}

const followed = `
gateway: {id: test}
clock: {trust: always}
spaces:
  - id: ` + room + `
    name: Aurora
    follow: {ring: true, light: true}
    devices:
      - {id: light-1, type: light, driver: scripted, poll: 2s, timeout: 1s, options: {name: light-1}}
      - {id: hub-1, type: o3-sensor, driver: scripted-hub, poll: 2s, timeout: 1s, options: {name: hub-1}}
`

// BenchmarkFollowTurn is one look at a space, which is taken each second.
func BenchmarkFollowTurn(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprint("bookings=", n), func(b *testing.B) {
			r := openRig(b, rigOptions{yaml: followed, dir: b.TempDir()})
			b.Cleanup(func() { _ = r.Close() })
			s := r.find(room)
			now := time.Now().Truncate(time.Hour).UTC()
			all := make([]booking.Booking, n)
			for i := range all {
				start := now.Add(time.Duration(i) * 15 * time.Minute)
				all[i] = booking.Booking{ID: fmt.Sprint(i), SpaceID: room, State: booking.Booked, Start: start, End: start.Add(15 * time.Minute)}
			}
			s.room.Bookings().Put(all...)
			f := newFollower(r.Agent, s)
			for b.Loop() {
				f.turn(b.Context(), f.look(r.Now()))
			}
		})
	}
}
