package site

import (
	"testing"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/agent/schedule"
	"roomgate/drivers"
)

func TestStateSaysWhoIsThere(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: watched})
		hub := r.o.bench["hub-1"]
		for _, c := range []struct {
			what string
			do   func()
			want string
		}{
			{"empty", func() {}, schedule.Vacant},
			{"somebody", func() { hub.Show(drivers.SubOccupancy, schedule.Occupied) }, schedule.Occupied},
			{"nonsense", func() { hub.Show(drivers.SubOccupancy, "maybe") }, schedule.Unknown},
			{"again", func() { hub.Show(drivers.SubOccupancy, schedule.Occupied) }, schedule.Occupied},
			{"unplugged", func() { hub.Set("vanish") }, schedule.Unknown},
		} {
			c.do()
			r.wait(2 * time.Minute)
			s, err := r.Site.o.Bookings.State(room)
			if err != nil || s.Occupancy.Value != c.want || (s.Occupancy.ObservedAt != nil) != (c.want != schedule.Unknown) {
				t.Errorf("%s: %+v, %v, want %s", c.what, s.Occupancy, err, c.want)
			}
		}
		if space, err := r.SpaceOfDevice("hub-1"); err != nil || space != room {
			t.Errorf("the hub is in %s, %v", space, err)
		}
		if _, err := r.SpaceOfDevice("hub-2"); problem.As(err) == nil || problem.As(err).Code != problem.NotFound {
			t.Errorf("no such device: %v", err)
		}
	})
}

// A gateway that starts while a release is due looks at the room first.
func TestReleaseWaitsForTheSensorAtTheStart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		bench := moreHardware()
		r := startRig(t, rigOptions{yaml: watched, dir: dir, bench: bench})
		r.book("here", on(9, 0), on(10, 0))
		r.stop()
		r.until(on(9, 20))
		bench["hub-1"].Show(drivers.SubOccupancy, schedule.Occupied)
		bench["hub-1"].Set("hang")
		r = startRig(t, rigOptions{yaml: watched, dir: dir, bench: bench})
		time.Sleep(500 * time.Millisecond)
		bench["hub-1"].Set("")
		close(bench["hub-1"].Release)
		r.until(on(9, 40))
		told, _, err := r.Site.o.Events.Find(eventlog.Filter{Type: schedule.Started})
		if err != nil || len(told) != 1 || !told[0].Time.Equal(on(9, 20)) || r.booking("here").State != booking.Booked {
			t.Errorf("started %v, %v, and is %s", told, err, r.booking("here").State)
		}
	})
}
