package roomcontrol

import (
	"testing"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/device"
	"roomgate/agent/schedule"
	"roomgate/drivers"
)

// seen is a view of a room whose current meeting has checked in age ago.
func seen(b booking.Booking, age time.Duration) view {
	now := time.Now()
	b.State, b.CheckedInAt = booking.CheckedIn, now.Add(-age)
	b.Start, b.End = now.Add(-20*time.Minute), now.Add(20*time.Minute)
	return view{now: now, trusted: true, presence: schedule.Unknown, since: now, rules: booking.Default(),
		state: booking.SpaceState{Status: booking.Occupied, Current: &b}}
}

func lockIs(value string) device.Reading {
	return device.Reading{Record: device.Record{Device: drivers.TypeLock, Value: value, Status: device.Online}}
}

func TestDoorJudgesACheckIn(t *testing.T) {
	b := booking.Booking{ID: "b"}
	for name, c := range map[string]struct {
		play func(*view)
		age  time.Duration
		want string
	}{
		"now":                        {func(*view) {}, 0, drivers.ActOpen},
		"by the cloud, on its way":   {func(*view) {}, 30 * time.Second, drivers.ActOpen},
		"by the cloud, an old one":   {func(*view) {}, 2 * time.Minute, ""},
		"that the cloud asked for":   {func(v *view) { v.state.Current.CheckedInBy = booking.Cloud }, 0, ""},
		"of a clock that is ahead":   {func(*view) {}, -2 * time.Minute, ""},
		"before this run":            {func(v *view) { v.first = true }, 0, ""},
		"by a clock nobody trusts":   {func(v *view) { v.trusted = false }, 0, ""},
		"in a room that is disabled": {func(v *view) { v.state.Status = booking.Disabled }, 0, ""},
		"of the meeting after the current one": {func(v *view) {
			v.state.Next, v.state.Current = v.state.Current, &booking.Booking{ID: "a", State: booking.Booked, End: v.now.Add(time.Minute)}
		}, 0, ""},
		"too early": {func(v *view) {
			v.state.Next, v.state.Current = v.state.Current, nil
			v.state.Next.Start = v.now.Add(11 * time.Minute)
		}, 0, ""},
		"early": {func(v *view) {
			v.state.Next, v.state.Current = v.state.Current, nil
			v.state.Next.Start = v.now.Add(9 * time.Minute)
		}, 0, drivers.ActOpen},
		"of a meeting that is over": {func(v *view) { v.state.Current.End = v.now }, 0, ""},
	} {
		d := newDoor(5 * time.Minute)
		v := seen(b, c.age)
		c.play(&v)
		d.observe(v, lockIs(drivers.Closed))
		if i := d.intend(v, lockIs(drivers.Closed)); i.action != c.want {
			t.Errorf("a check-in %s: the door is told to %q, want %q", name, i.action, c.want)
		}
	}
}

// What was refused once is not granted later, when the reason is gone.
func TestDoorForgetsNoRefusal(t *testing.T) {
	for name, spoil := range map[string]func(*view){
		"a start":    func(v *view) { v.first = true },
		"no trust":   func(v *view) { v.trusted = false },
		"disabling":  func(v *view) { v.state.Status = booking.Disabled },
		"an old one": func(v *view) { v.state.Current.CheckedInAt = v.now.Add(-time.Hour) },
	} {
		d := newDoor(5 * time.Minute)
		v := seen(booking.Booking{ID: "b"}, 0)
		good := *v.state.Current
		spoil(&v)
		d.observe(v, lockIs(drivers.Closed))
		v.first, v.trusted, v.state.Status, v.state.Current = false, true, booking.Occupied, &good
		v.now = v.now.Add(time.Second)
		d.observe(v, lockIs(drivers.Closed))
		if i := d.intend(v, lockIs(drivers.Closed)); i.action != "" {
			t.Errorf("after %s the door is told to %s", name, i.action)
		}
	}
}

// A door that is open and nobody's after a start may be ours, and is locked; so
// is one whose clock is not trusted any more.
func TestDoorFailsTowardsClosed(t *testing.T) {
	for name, spoil := range map[string]func(*view){
		"a start without a meeting": func(v *view) { v.first, v.state.Current = true, nil },
		"a clock nobody trusts":     func(v *view) { v.trusted = false },
		"a disabled room":           func(v *view) { v.state.Status = booking.Disabled },
		"the end":                   func(v *view) { v.state.Current = nil },
	} {
		d := newDoor(5 * time.Minute)
		v := seen(booking.Booking{ID: "b"}, 0)
		if name != "a start without a meeting" {
			d.observe(v, lockIs(drivers.Open))
		}
		spoil(&v)
		d.observe(v, lockIs(drivers.Open))
		i := d.intend(v, lockIs(drivers.Open))
		if i.action != drivers.ActClose || !i.always {
			t.Errorf("after %s the door is told to %q", name, i.action)
		}
		d.intend(v, lockIs(drivers.Closed)) // it is locked
		if i := d.intend(v, lockIs(drivers.Open)); i.action != "" {
			t.Errorf("after %s the door that somebody opens is told to %s", name, i.action)
		}
	}
}

// TestNoUnsignedEndKeepsTheDoorOpen: where signatures are wanted, a later end that the cloud has said without one keeps
// no door open. One that the building has said does.
func TestNoUnsignedEndKeepsTheDoorOpen(t *testing.T) {
	for name, c := range map[string]struct {
		extend func(v *view, b *booking.Booking)
		want   string
	}{
		"by nobody":       {func(*view, *booking.Booking) {}, drivers.ActClose},
		"by the building": {func(_ *view, b *booking.Booking) { b.End = b.End.Add(time.Hour) }, ""},
		"unsigned":        {func(_ *view, b *booking.Booking) { b.End, b.Unsigned = b.End.Add(time.Hour), true }, drivers.ActClose},
		"unsigned, as allowed": {func(v *view, b *booking.Booking) {
			b.End, b.Unsigned, v.unsignedAllowed = b.End.Add(time.Hour), true, true
		}, ""},
	} {
		d := newDoor(5 * time.Minute)
		v := seen(booking.Booking{ID: "b"}, 0)
		end := v.state.Current.End
		d.observe(v, lockIs(drivers.Open))
		later := *v.state.Current
		c.extend(&v, &later)
		if v.state.Current = &later; !later.End.After(end) {
			v.state.Current = nil
		}
		v.now = end.Add(time.Minute)
		d.observe(v, lockIs(drivers.Open))
		if i := d.intend(v, lockIs(drivers.Open)); i.action != c.want {
			t.Errorf("extended %s the open door is told to %q, want %q", name, i.action, c.want)
		}
	}
	d, v := newDoor(5*time.Minute), seen(booking.Booking{ID: "b", Origin: booking.Origin{Unsigned: true}}, 0)
	d.observe(v, lockIs(drivers.Closed))
	if i := d.intend(v, lockIs(drivers.Closed)); i.action != drivers.ActOpen {
		t.Errorf("for people who check in here to a meeting of the cloud the door is told to %q", i.action)
	}
}
