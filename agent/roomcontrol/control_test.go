package roomcontrol

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/device"
	"roomgate/agent/device/devicetest"
	"roomgate/agent/schedule"
	"roomgate/drivers"
)

// scripted is a room with a light and a hub that do as the test says.
const scripted = `
gateway: {id: test}
clock: {trust: always}
spaces:
  - id: ` + aurora + `
    name: Aurora
    follow: {ring: true, light: true}
    devices:
      - {id: light-1, type: light, driver: scripted, poll: 2s, timeout: 1s, options: {name: light-1}}
      - {id: hub-1, type: o3-sensor, driver: scripted-hub, poll: 2s, timeout: 1s, options: {name: hub-1}}
`

// A device that never follows gets few commands.
func TestNoStormOfCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bench := devicetest.NewBench()
		r := newRig(t, scripted, bench.Kinds(), nil)
		r.start()
		bench["light-1"].Set("ignore")
		r.pass(5 * time.Second)
		if _, _, err := r.Create(t.Context(), booking.Booking{SpaceID: aurora, Source: booking.WalkUp}, schedule.Caller{}); err != nil {
			t.Fatal(err)
		}
		r.pass(25 * time.Minute)
		if tries := len(r.given(aurora, drivers.TypeLight)); tries != usualTries {
			t.Errorf("%d commands to a light that follows none, want %d", tries, usualTries)
		}
	})
}

// A hub whose ring has no colours gets no commands, and is no trouble.
func TestRingWithoutColours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bench := devicetest.NewBench()
		r := newRig(t, scripted, bench.Kinds(), nil)
		r.start()
		r.pass(20 * time.Minute)
		if done := bench["hub-1"].Effects(); len(done) != 0 {
			t.Errorf("it was told to %q", done)
		}
	})
}

// A change of the room's state is followed before the next look.
func TestChangeIsFollowedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := follows(t, rooms)
		h.pass(step / 2)
		if _, err := h.Hold(t.Context(), borealis, booking.Hold{Status: booking.Disabled}); err != nil {
			t.Fatal(err)
		}
		h.pass(step / 10)
		h.ring(borealis, drivers.Off)
	})
}

// A device with a loose contact does not get the same command each time that it
// is back.
func TestLooseContactIsNotShowered(t *testing.T) {
	now := time.Now()
	v := view{now: now, state: booking.SpaceState{Status: booking.Available}}
	a := &actuator{behavior: &ring{}, goal: schedule.RingGreen}
	for after, want := range map[time.Duration]string{time.Second: "", comebackPause - time.Second: "", comebackPause: drivers.ActColor} {
		a.last, a.next = now, time.Time{}
		a.lose(now.Add(time.Second))
		v.now = now.Add(after)
		if i := a.ask(v, device.Reading{}); i.action != want {
			t.Errorf("%s after the last command it is told to %q, want %q", after, i.action, want)
		}
	}
}

// A device follows its schedule again once it is enabled, also one that the
// configuration disables.
func TestDisabledDeviceFollowsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bench := devicetest.NewBench()
		r := newRig(t, scripted, bench.Kinds(), nil)
		r.start()
		r.pass(5 * time.Second)
		enable := func(on bool) {
			t.Helper()
			light, err := r.find(aurora, drivers.TypeLight)
			if err == nil {
				err = light.Change(t.Context(), device.Settings{Enabled: &on}, false, "test")
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		enable(false)
		if _, _, err := r.Create(t.Context(), booking.Booking{SpaceID: aurora, Source: booking.WalkUp}, schedule.Caller{}); err != nil {
			t.Fatal(err)
		}
		r.pass(time.Minute)
		if done := bench["light-1"].Effects(); len(done) > 0 {
			t.Errorf("it was told to %q while disabled", done)
		}
		enable(true)
		r.pass(time.Minute)
		if done := bench["light-1"].Effects(); !slices.Equal(done, []string{"on"}) {
			t.Errorf("after it was enabled it was told to %q", done)
		}
	})
}

// BenchmarkTurn is one look at a room, which is taken each second.
func BenchmarkTurn(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprint("bookings=", n), func(b *testing.B) {
			r := newRig(b, scripted, devicetest.NewBench().Kinds(), nil)
			r.open()
			b.Cleanup(func() { _ = r.close() })
			now := time.Now().Truncate(time.Hour).UTC()
			all := make([]booking.Booking, n)
			for i := range all {
				start := now.Add(time.Duration(i) * 15 * time.Minute)
				all[i] = booking.Booking{ID: fmt.Sprint(i), SpaceID: aurora, State: booking.Booked, Start: start, End: start.Add(15 * time.Minute)}
			}
			r.Room(aurora).Bookings().Put(all...)
			c := newControl(r.options(r.config.Spaces[0]))
			for b.Loop() {
				c.turn(b.Context(), c.look(r.clock.Now()))
			}
		})
	}
}
