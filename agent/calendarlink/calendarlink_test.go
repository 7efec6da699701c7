package calendarlink

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/calendar"
)

// at is a time on the day of these tests.
func at(hour, minute int) time.Time { return time.Date(2026, 3, 2, hour, minute, 0, 0, time.UTC) }

func meeting(uid string, from, to time.Time) calendar.Occurrence {
	return calendar.Occurrence{UID: uid, Start: from, End: to, Title: uid}
}

// desk is a room that keeps what a calendar link says of it.
type desk struct {
	Room
	t *testing.T
}

func newDesk(t *testing.T) *desk {
	return &desk{Room{ID: "room", Bookings: booking.NewSchedule(nil), Marks: map[string]booking.Marks{}}, t}
}

// read lays a calendar over the room, and stores what it makes of it.
func (d *desk) read(now time.Time, unread []string, list ...calendar.Occurrence) Outcome {
	d.t.Helper()
	o := d.Lay(Page{Result: calendar.Result{Occurrences: list, Unread: unread}, To: at(24*30, 0)}, now)
	store, _ := booking.Merge(d.Bookings.Get, d.Bookings.Walk, append(slices.Clone(o.Placed), o.Missing...))
	for _, b := range store {
		if was, known := d.Bookings.Get(b.ID); known && b.Revision <= was.Revision {
			d.t.Errorf("%s: revision %d after %d", b.Title, b.Revision, was.Revision)
		}
		d.Marks[b.ID] = booking.Marks{Calendar: o.Said[b.ID]}
	}
	d.Bookings.Put(store...)
	return o
}

// change does something to the booking of that id.
func (d *desk) change(id string, f func(booking.Booking) (booking.Booking, error)) {
	d.t.Helper()
	b, _ := d.Bookings.Get(id)
	after, err := f(b)
	if err != nil {
		d.t.Fatal(err)
	}
	d.Bookings.Put(after)
}

// want compares the bookings, as "title 09:00-10:00 state", sorted by start.
func (d *desk) want(what string, want ...string) {
	d.t.Helper()
	var got []string
	for _, b := range d.Bookings.All(time.Time{}, time.Time{}) {
		got = append(got, fmt.Sprintf("%s %s-%s %s", b.Title, b.Start.Format("15:04"), b.End.Format("15:04"), b.State))
	}
	if !slices.Equal(got, want) {
		d.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func (d *desk) checkIn(id string, now time.Time) {
	d.t.Helper()
	d.change(id, func(b booking.Booking) (booking.Booking, error) { return b.CheckIn(booking.Default(), now) })
}

func TestWhoIsInTheRoomKeepsIt(t *testing.T) {
	d := newDesk(t)
	d.read(at(8, 0), nil, meeting("a", at(9, 0), at(10, 0)))
	d.checkIn(ID("room", "a"), at(8, 55))
	d.read(at(9, 5), nil, meeting("a", at(9, 15), at(10, 15)))
	d.want("a little later", "a 09:00-10:15 checked_in")
	d.read(at(9, 5), nil, meeting("a", at(9, 0), at(9, 30)))
	d.want("shortened", "a 09:00-10:15 checked_in")
	d.read(at(9, 5), nil)
	d.want("called off", "a 09:00-10:15 checked_in")
	moved := meeting("a", at(14, 0), at(15, 0))
	d.read(at(9, 5), nil, moved)
	d.want("moved away", "a 09:00-10:15 checked_in", "a 14:00-15:00 booked")
	d.change(ID("room", "a"), func(b booking.Booking) (booking.Booking, error) { return b.EndNow(at(9, 40)) })
	d.read(at(9, 45), nil, moved)
	d.want("and ended", "a 09:00-09:40 ended", "a 14:00-15:00 booked")
}

func TestWhatPeopleProlongedStays(t *testing.T) {
	d := newDesk(t)
	a := meeting("a", at(9, 0), at(10, 0))
	d.read(at(8, 0), nil, a)
	d.change(ID("room", "a"), func(b booking.Booking) (booking.Booking, error) {
		return b.Extend(at(10, 30), booking.Default(), at(9, 5))
	})
	for range 2 {
		if o := d.read(at(9, 10), nil, a); len(o.Placed) > 0 {
			t.Errorf("it is changed: %+v", o.Placed)
		}
	}
	d.want("prolonged", "a 09:00-10:30 booked")
	d.read(at(9, 10), nil, meeting("a", at(9, 0), at(11, 0)))
	d.want("and by the calendar", "a 09:00-11:00 booked")
}

func TestWhatCannotBeReadStays(t *testing.T) {
	d := newDesk(t)
	early := calendar.Occurrence{UID: "a/b", Recurrence: at(9, 0), Start: at(9, 0), End: at(10, 0), Title: "early"}
	d.read(at(8, 0), nil, early, meeting("c", at(11, 0), at(12, 0)))
	if o := d.read(at(8, 5), []string{"a/b"}); o.Lost != 1 || o.Held != 2 {
		t.Errorf("%d of %d are lost", o.Lost, o.Held)
	}
	d.want("unreadable", "early 09:00-10:00 booked", "c 11:00-12:00 cancelled")
	early.Start, early.End = at(8, 0), at(9, 0) // without the line that had moved it
	d.read(at(8, 5), []string{"a/b"}, early)
	d.want("unreadable in part", "early 09:00-10:00 booked", "c 11:00-12:00 cancelled")
}

// What cannot be kept of a meeting must not make its room look free.
func TestEveryMeetingIsBooked(t *testing.T) {
	d := newDesk(t)
	odd := meeting(strings.Repeat("ü", 2000), at(9, 0), at(10, 0))
	odd.Title, odd.Organizer = strings.Repeat("é", 600), calendar.Person{Name: strings.Repeat("é", 600), Email: "not an address"}
	if o := d.read(at(8, 0), nil, odd); len(o.Placed) != 1 || o.Placed[0].Organizer.Email != "" || len(o.Problems) > 0 {
		t.Errorf("%+v", o)
	}
	if o := d.read(at(8, 5), nil, odd); len(o.Placed)+len(o.Missing) > 0 {
		t.Errorf("the same again: %+v", o)
	}
}

func TestDisplacedUntilTheRoomIsFree(t *testing.T) {
	d := newDesk(t)
	a, b := meeting("a", at(9, 0), at(10, 0)), meeting("b", at(9, 30), at(10, 30))
	d.read(at(8, 0), nil, a)
	d.read(at(8, 5), nil, a, b)
	d.want("both at once", "a 09:00-10:00 booked", "b 09:30-10:30 displaced")
	for range 2 {
		if o := d.read(at(8, 10), nil, a, b); len(o.Placed)+len(o.Missing) > 0 {
			t.Errorf("the same again: %+v", o)
		}
	}
	d.read(at(8, 15), nil, b) // a leaves, and b sees that with the next reading
	d.read(at(8, 20), nil, b)
	d.want("one left", "a 09:00-10:00 cancelled", "b 09:30-10:30 booked")
	d.read(at(8, 25), nil, a, b)
	d.want("and came back too late", "a 09:00-10:00 displaced", "b 09:30-10:30 booked")
	d.read(at(8, 30), nil)
	d.read(at(8, 35), nil, a)
	d.want("the other one left", "a 09:00-10:00 booked", "b 09:30-10:30 cancelled")
}

func TestFarFewerEventsAreDoubted(t *testing.T) {
	full := []calendar.Occurrence{meeting("a", at(9, 0), at(10, 0)), meeting("b", at(10, 0), at(11, 0)),
		meeting("c", at(11, 0), at(12, 0)), meeting("d", at(12, 0), at(13, 0)), meeting("e", at(13, 0), at(14, 0))}
	d := newDesk(t)
	d.read(at(8, 0), nil, full...)
	var doubt Doubt
	for _, c := range []struct {
		left    int
		minutes int // since the first of its kind
		want    string
	}{
		{5, 0, ""}, {4, 0, ""}, {3, 0, ""},
		{2, 0, "of the 5 events that were ahead 3 are missing at once: they stay booked for 60 more minutes, unless they are back by then"},
		{0, 30, "of the 5 events that were ahead 5 are missing at once: they stay booked for 30 more minutes, unless they are back by then"},
		{0, 59, "of the 5 events that were ahead 5 are missing at once: they stay booked for 1 more minutes, unless they are back by then"},
		{5, 60, ""}, // and all is well
		{0, 61, "of the 5 events that were ahead 5 are missing at once: they stay booked for 60 more minutes, unless they are back by then"},
		{0, 121, ""},
	} {
		o := d.Lay(Page{Result: calendar.Result{Occurrences: full[:c.left]}, To: at(24, 0)}, at(8, 5))
		if got := doubt.Of(o, at(8, c.minutes)); got != c.want {
			t.Errorf("%d events after %d minutes: %q, want %q", c.left, c.minutes, got, c.want)
		}
	}
	relinked := Doubt{Relinked: true}
	none := d.Lay(Page{To: at(24, 0)}, at(8, 5))
	if got := relinked.Of(none, at(8, 0)); got != "" {
		t.Errorf("another calendar was linked: %q", got)
	}
	if got := relinked.Of(none, at(8, 0)); got == "" {
		t.Error("its second page is believed too")
	}
}

// A room with few events is doubted about as well: by their bookings, and when nothing
// is left. What is called off in so many words is believed.
func TestFewEventsAreDoubted(t *testing.T) {
	series := func(uid string, n int) (all []calendar.Occurrence) {
		for i := range n {
			o := meeting(uid, at(9+24*7*i, 0), at(10+24*7*i, 0))
			o.Recurrence = o.Start
			all = append(all, o)
		}
		return all
	}
	one, two := series("one", 20), series("two", 4)
	lone := []calendar.Occurrence{meeting("lone", at(12, 0), at(13, 0))}
	for name, c := range map[string]struct {
		held, left []calendar.Occurrence
		named      []string
		want       string
	}{
		"nothing is left of two series":  {slices.Concat(one, two), nil, nil, "bookings that were ahead: 24, missing at once: 24."},
		"the longer of two series":       {slices.Concat(one, two), two, nil, "bookings that were ahead: 24, missing at once: 20."},
		"the shorter of two series":      {slices.Concat(one, two), one, nil, ""},
		"a series and a meeting":         {slices.Concat(one, lone), lone, nil, "bookings that were ahead: 21, missing at once: 20."},
		"the only meeting":               {lone, nil, nil, "bookings that were ahead: 1, missing at once: 1."},
		"one meeting of two":             {slices.Concat(lone, two[:1]), lone, nil, ""},
		"the only meeting is called off": {lone, nil, []string{"lone"}, ""},
		"a series is called off":         {slices.Concat(one, lone), lone, []string{"one"}, ""},
		"a series ends early":            {one, one[:1], nil, ""},
		"there was nothing":              {nil, nil, nil, ""},
	} {
		d := newDesk(t)
		page := func(list []calendar.Occurrence, named []string) Outcome {
			return d.Lay(Page{Result: calendar.Result{Occurrences: list, Named: named}, To: at(24*365, 0)}, at(8, 0))
		}
		d.Bookings.Put(page(c.held, nil).Placed...)
		var doubt Doubt
		got := doubt.Of(page(c.left, c.named), at(8, 0))
		if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) || c.want != "" && !strings.Contains(got, "60 more minutes") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if again := doubt.Of(page(c.left, c.named), at(9, 0)); again != "" {
			t.Errorf("%s: still doubted after an hour: %q", name, again)
		}
	}
}

// TestWhatPeopleHeldElsewhereTakesNoTime: a meeting that people moved here uses
// the time to which they moved it. The calendar still has it at its own time, and
// the room looks taken then, however the meeting here ends and whether or not
// the calendar was read while people were there.
func TestWhatPeopleHeldElsewhereTakesNoTime(t *testing.T) {
	evening := meeting("a", at(20, 0), at(23, 0))
	release := func(b booking.Booking) (booking.Booking, error) {
		return b.ReleaseNow("nobody came", at(9, 10)), nil
	}
	end := func(now time.Time) func(booking.Booking) (booking.Booking, error) {
		return func(b booking.Booking) (booking.Booking, error) { return b.EndNow(now) }
	}
	for name, c := range map[string]struct {
		stays, read bool // people check in; the calendar is read before it is over
		over        func(booking.Booking) (booking.Booking, error)
		want        string
	}{
		"held, and read meanwhile":                 {true, true, end(at(10, 0)), "09:00-10:00 ended"},
		"held, and not read meanwhile":             {true, false, end(at(10, 0)), "09:00-10:00 ended"},
		"ended early, and read meanwhile":          {true, true, end(at(9, 30)), "09:00-09:30 ended"},
		"ended early, and not read meanwhile":      {true, false, end(at(9, 30)), "09:00-09:30 ended"},
		"released, and not read meanwhile":         {false, false, release, "09:00-10:00 released"},
		"over without a check-in, and not read":    {false, false, end(at(10, 0)), "09:00-10:00 ended"},
		"ended ahead of its start, not read":       {true, false, end(at(8, 56)), "09:00-10:00 ended"},
		"ended ahead of its start, read before":    {true, true, end(at(8, 56)), "09:00-10:00 ended"},
		"ended in its last minute, read meanwhile": {true, true, end(at(9, 59)), "09:00-09:59 ended"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.read(at(8, 0), nil, evening)
			now, want := at(8, 0), []string(nil)
			for range 3 { // and again: the next one too is moved, and held
				moved := d.the(evening.Start)
				d.change(moved.ID, func(b booking.Booking) (booking.Booking, error) {
					start, until := at(9, 0), at(10, 0)
					return b.Change(booking.Edit{Start: &start, End: &until}, booking.Default(), now)
				})
				if c.stays {
					d.checkIn(moved.ID, at(8, 55))
				}
				if c.read {
					d.read(at(8, 55), nil, evening)
				}
				d.change(moved.ID, c.over)
				for range 2 {
					d.read(at(10, 5), nil, evening)
				}
				want = append(want, "a "+c.want)
				d.want("held elsewhere", append(slices.Clone(want), "a 20:00-23:00 booked")...)
			}
			d.change(d.the(evening.Start).ID, func(b booking.Booking) (booking.Booking, error) { return b.Cancel(at(10, 10)) })
			d.read(at(10, 15), nil, evening)
			d.want("and cancelled", append(slices.Clone(want), "a 20:00-23:00 cancelled")...)
		})
	}
}

// the booking that begins then.
func (d *desk) the(start time.Time) (found booking.Booking) {
	d.t.Helper()
	for b := range d.Bookings.Walk {
		if b.Start.Equal(start) {
			found = *b
		}
	}
	if found.ID == "" {
		d.t.Fatalf("nothing is booked at %v", start)
	}
	return found
}
