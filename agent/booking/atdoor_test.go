package booking

import (
	"strings"
	"testing"
	"time"
)

// TestAtDoor: the day is that of the space, and the length that of a walk-up.
func TestAtDoor(t *testing.T) {
	r := Default()
	r.Zone = time.FixedZone("east", 10*3600)
	now := time.Date(2026, 11, 23, 13, 30, 0, 0, time.UTC) // 23:30 there
	for _, c := range []struct {
		start  time.Time
		length time.Duration
		field  string
	}{
		{now, r.WalkUp, ""},
		{now.Add(15 * time.Minute), time.Hour, ""}, // it goes into the next day, as a walk-up may
		{now.Add(30 * time.Minute), time.Hour, "start_time"},
		{now.Add(-24 * time.Hour), time.Hour, "start_time"},
		{now, r.WalkUp + time.Minute, "end_time"},
	} {
		err := r.AtDoor(Booking{Start: c.start, End: c.start.Add(c.length)}, now, nil)
		if c.field == "" && err != nil || c.field != "" && (err == nil || !strings.Contains(err.Error(), c.field)) {
			t.Errorf("%s for %s: %v, want %q", c.start, c.length, err, c.field)
		}
	}
}

// TestExtendAtDoor: a walk-up stays one, and another meeting goes on for one.
func TestExtendAtDoor(t *testing.T) {
	r, start := Default(), time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	hour := start.Add(time.Hour)
	for _, c := range []struct {
		b      Booking
		longer time.Duration // after its end
		ok     bool
	}{
		{Booking{Source: WalkUp, End: hour}, time.Hour, true},
		{Booking{Source: WalkUp, End: hour}, time.Hour + time.Minute, false},
		{Booking{Source: WalkUp, End: start.Add(r.WalkUp)}, time.Minute, false},
		{Booking{End: hour}, r.WalkUp, true},
		{Booking{End: hour}, r.WalkUp + time.Minute, false},
		{Booking{End: hour.Add(r.WalkUp), Ending: Ending{PlannedEnd: hour}}, time.Minute, false},
	} {
		c.b.Start = start
		err := r.ExtendAtDoor(c.b, c.b.End.Add(c.longer), nil)
		if (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), "end_time") {
			t.Errorf("%s of %s until %s by %s: %v", c.b.Source, c.b.Start, c.b.End, c.longer, err)
		}
	}
}

// TestWalkUpsInARow: many short bookings at a door are one, unless the space is free between
// them for a while. Those of others, and those that did not take place, do not count.
func TestWalkUpsInARow(t *testing.T) {
	r, start := Default(), time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	at := func(minute int) time.Time { return start.Add(time.Duration(minute) * time.Minute) }
	door := func(id string, from, to int) Booking {
		return Booking{ID: MadeAtDoor + id, Start: at(from), End: at(to), State: Booked}
	}
	before := []Booking{door("a", 40, 70), {ID: "walk-up", Source: WalkUp, State: Ended, Start: at(0), End: at(30)}}
	for name, c := range map[string]struct {
		b   Booking
		all []Booking
		ok  bool
	}{
		"just two hours":          {door("b", 84, 120), before, true},
		"more than two hours":     {door("b", 84, 121), before, false},
		"after a pause":           {door("b", 85, 205), before, true},
		"before others":           {door("b", -30, -10), append(before, door("c", 70, 120)), false},
		"between others":          {door("b", 125, 135), append(before, door("c", 140, 200)), true},
		"joins others":            {door("b", 80, 130), append(before, door("c", 140, 200)), false},
		"itself is there":         {door("a", 40, 70), append(before, door("b", 70, 120)), true},
		"others are of a meeting": {door("b", 60, 170), []Booking{{ID: "m", Source: Local, State: CheckedIn, Start: at(0), End: at(60)}}, true},
		"taken back":              {door("b", 60, 170), []Booking{{ID: "door-x", State: Cancelled, Start: at(0), End: at(60)}}, true},
		"nobody came":             {door("b", 60, 170), []Booking{{ID: "door-x", State: Released, Start: at(0), End: at(60)}}, true},
	} {
		if err := r.AtDoor(c.b, start, c.all); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		if err := r.ExtendAtDoor(c.b, c.b.End, c.all); (err == nil) != c.ok {
			t.Errorf("%s, extended: %v", name, err)
		}
	}
	if left := r.DoorLeft(at(75), before); left != 45*time.Minute {
		t.Errorf("%v are left", left)
	}
	if left := r.DoorLeft(at(90), before); left != r.WalkUp {
		t.Errorf("%v are left after a pause", left)
	}
}
