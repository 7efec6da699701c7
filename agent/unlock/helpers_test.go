package unlock

import (
	"context"
	"slices"
	"strings"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/schedule"
	"roomgate/drivers"
)

// code sets an unlock code of the room.
func (r *rig) code(set Request) Code {
	r.t.Helper()
	c, _, _, err := r.Set(context.Background(), aurora, set, "test")
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

// types enters a code at the keypad, and waits for its verdict.
func (r *rig) types(code string) {
	r.t.Helper()
	if _, err := r.world.Control(aurora, "keypad", "code", code); err != nil {
		r.t.Fatal(err)
	}
	r.pass(4 * time.Second)
}

// stands wants the door open or closed.
func (r *rig) stands(want string) {
	r.t.Helper()
	if got, err := r.theLock().Status(""); err != nil || got.Offline() || got.Value != want {
		r.t.Errorf("%s: the door is %+v, %v, want %s", time.Now().UTC().Format("15:04:05"), got, err, want)
	}
}

// refused enters a code that must not open the door.
func (r *rig) refused(code, why string) {
	r.t.Helper()
	r.types(code)
	r.stands(drivers.Closed)
	events, _, err := r.log.Latest(eventlog.Filter{DeviceType: drivers.TypeLock, Limit: 1})
	if err != nil || len(events) == 0 || events[0].Type != "codeRefused" || !strings.Contains(string(events[0].Record), why) {
		r.t.Errorf("last event %s, %v, want codeRefused: %s", events[0].Record, err, why)
	}
}

// opens enters a code that must open the door, and waits until it is locked.
func (r *rig) opens(code string) {
	r.t.Helper()
	r.types(code)
	r.stands(drivers.Open)
	r.pass(time.Minute)
	r.stands(drivers.Closed)
}

// unlocks opens the door as a person, and waits for the outcome.
func (r *rig) unlocks() {
	r.t.Helper()
	got, err := r.commands.Do(context.Background(), device.Command{Space: aurora, DeviceType: drivers.TypeLock, Action: drivers.ActOpen, Via: device.ViaHTTP})
	if err != nil || got.State != device.Done {
		r.t.Fatalf("%+v, %v", got, err)
	}
	r.pass(3 * time.Second)
}

// events lists the types of what was logged of the lock, and their records.
func (r *rig) events() (types []string, text string) {
	r.t.Helper()
	all, _, err := r.log.Find(eventlog.Filter{DeviceType: drivers.TypeLock, Limit: 5000})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, e := range all {
		types, text = append(types, e.Type), text+string(e.Record)+"\n"
	}
	return types, text
}

// after are the types of the events from the last of a type on.
func (r *rig) after(kind string) []string {
	r.t.Helper()
	types, _ := r.events()
	for i := len(types) - 1; i >= 0; i-- {
		if types[i] == kind {
			return slices.Clone(types[i+1:])
		}
	}
	return nil
}

// clockOf is a time of today, UTC.
func (r *rig) clockOf(clock string) time.Time {
	r.t.Helper()
	of, err := time.Parse("15:04", clock)
	if err != nil {
		r.t.Fatal(err)
	}
	return time.Now().UTC().Truncate(24 * time.Hour).Add(time.Duration(of.Hour())*time.Hour + time.Duration(of.Minute())*time.Minute)
}

// at lets time go by until a time of the day.
func (r *rig) at(clock string) { r.t.Helper(); r.pass(time.Until(r.clockOf(clock))) }

// book books the room today from one time to the other.
func (r *rig) book(from, to string) string {
	r.t.Helper()
	b, _, err := r.bookings.Create(context.Background(), booking.Booking{SpaceID: aurora, Start: r.clockOf(from), End: r.clockOf(to)}, schedule.Caller{})
	if err != nil {
		r.t.Fatal(err)
	}
	return b.ID
}

func (r *rig) checkIn(id string) {
	r.t.Helper()
	if _, err := r.bookings.CheckIn(context.Background(), id, schedule.Caller{}); err != nil {
		r.t.Fatal(err)
	}
	r.pass(3 * time.Second)
}

// hold sets the state of the room.
func (r *rig) hold(status booking.Status) {
	r.t.Helper()
	if _, err := r.bookings.Hold(context.Background(), aurora, booking.Hold{Status: status}); err != nil {
		r.t.Fatal(err)
	}
	r.pass(3 * time.Second)
}
