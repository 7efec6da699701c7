package booking

import (
	"testing"
	"time"

	"roomgate/agent/goldentest"
	"roomgate/agent/problem"
)

// at is a time of the Monday of the tests, in UTC.
func at(hour, minute int) time.Time {
	return monday.Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute)
}

// meeting is booked from 10 to 11, since 8.
func meeting(s State) Booking {
	b := Booking{ID: "m", SpaceID: "room", Source: Local, Start: at(10, 0), End: at(11, 0), State: s, Revision: 1, CreatedAt: at(8, 0), UpdatedAt: at(8, 0)}
	if s == CheckedIn {
		b.CheckedInAt = at(9, 55)
	}
	return b
}

var over = []State{Ended, Cancelled, Released, Displaced, "unheard of"}

func ptr[T any](v T) *T { return &v }

func TestChange(t *testing.T) {
	hours := func(r *Rules) { r.Hours = workdays }
	for _, c := range []struct {
		name  string
		state State
		now   time.Time
		rules func(*Rules)
		edit  Edit
		want  string
	}{
		{"title", Booked, at(9, 0), nil, Edit{Title: ptr("x")}, ""},
		{"title of a running one", CheckedIn, at(10, 30), nil, Edit{Title: ptr("x")}, ""},
		{"title of a wrong kind", Booked, at(9, 0), nil, Edit{Organizer: &Person{Email: "x"}}, "organizer.email is no e-mail address"},
		{"moved", Booked, at(9, 0), nil, Edit{Start: ptr(at(14, 0)), End: ptr(at(15, 0))}, ""},
		{"moved off the grid", Booked, at(9, 0), nil, Edit{Start: ptr(at(10, 5))}, "start_time is 10:05 there, off the grid of 15 min: 10:00 or 10:15 fits"},
		{"start beyond the end", Booked, at(9, 0), nil, Edit{Start: ptr(at(12, 0))}, "end_time is before start_time"},
		{"moved to the past", Booked, at(9, 0), nil, Edit{Start: ptr(at(8, 0))}, "start_time is past: the current slot can be booked, none before it"},
		{"start of a running one", Booked, at(10, 5), nil, Edit{Start: ptr(at(10, 15))}, "start_time cannot be moved: the meeting has begun"},
		{"start of one checked in early", CheckedIn, at(9, 56), nil, Edit{Start: ptr(at(10, 15))}, "start_time cannot be moved: the meeting has begun"},
		{"later end while it runs", CheckedIn, at(10, 30), nil, Edit{End: ptr(at(11, 10))}, ""},
		{"earlier end while it runs", CheckedIn, at(10, 30), nil, Edit{End: ptr(at(10, 45))}, "end_time cannot be made earlier while the meeting runs: end it when it is over"},
		{"end before the start, checked in early", CheckedIn, at(9, 56), nil, Edit{End: ptr(at(9, 58))}, "end_time cannot be made earlier while the meeting runs: end it when it is over"},
		{"earlier end, nobody there yet", Booked, at(10, 5), nil, Edit{End: ptr(at(10, 45))}, ""},
		{"past end", Booked, at(10, 30), nil, Edit{End: ptr(at(10, 15))}, "end_time is past: end the booking instead"},
		{"too long while it runs", CheckedIn, at(10, 30), nil, Edit{End: ptr(at(34, 1))}, "end_time makes it 24 h 1 min long: at most 24 h"},
		{"past closing while it runs", CheckedIn, at(10, 30), hours, Edit{End: ptr(at(18, 30))}, "end_time is outside the opening hours: the space closes at Mon 2 Mar 18:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Default()
			if c.rules != nil {
				c.rules(&r)
			}
			was := meeting(c.state)
			b, err := was.Change(c.edit, r, c.now)
			if c.want != "" {
				text(t, err, c.want)
				if b != was {
					t.Fatalf("a refused change changed it: %+v", b)
				}
				return
			}
			if err != nil || b.Revision != 2 || !b.UpdatedAt.Equal(c.now) {
				t.Fatalf("got %+v, %v", b, err)
			}
		})
	}
	for _, s := range over {
		_, err := meeting(s).Change(Edit{Title: ptr("x")}, Default(), at(9, 0))
		refused(t, err, problem.NotNow, "")
	}
}

func TestChangeOfNothing(t *testing.T) {
	b := meeting(Booked)
	same := b.Start.In(time.FixedZone("", 3600)).Add(300 * time.Microsecond)
	after, err := b.Change(Edit{Start: &same, Title: ptr("")}, Default(), at(9, 0))
	if err != nil || after != b {
		t.Fatalf("got %+v, %v", after, err)
	}
}

func TestCheckIn(t *testing.T) {
	r := Default()
	for _, c := range []struct {
		name string
		now  time.Time
		want string
	}{
		{"too early", at(9, 49), "it is too early: check-in opens at Mon 2 Mar 09:50"},
		{"when it opens", at(9, 50), ""},
		{"at the start", at(10, 0), ""},
		{"late, not released yet", at(10, 30), ""},
		{"at the end", at(11, 0), "the meeting was over at Mon 2 Mar 11:00: book the room again"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := meeting(Booked).CheckIn(r, c.now)
			if c.want != "" {
				text(t, err, c.want)
				return
			}
			if err != nil || b.State != CheckedIn || !b.CheckedInAt.Equal(c.now) || b.Revision != 2 {
				t.Fatalf("got %+v, %v", b, err)
			}
			again, err := b.CheckIn(r, c.now.Add(time.Minute))
			if err != nil || again != b {
				t.Fatalf("checking in twice changed it: %+v, %v", again, err)
			}
		})
	}
	for _, s := range over {
		_, err := meeting(s).CheckIn(r, at(10, 0))
		text(t, err, "the booking is "+string(s)+": book the room again")
	}
	_, err := meeting(Booked).CheckIn(rulesIn(zone(t, "Asia/Kathmandu")), at(0, 0))
	text(t, err, "it is too early: check-in opens at Mon 2 Mar 15:35")
}

func TestExtend(t *testing.T) {
	r := rulesIn(time.UTC, func(r *Rules) { r.Hours = workdays })
	late := meeting(CheckedIn) // began before the space opened
	late.Start, late.End = at(7, 0), at(9, 0)
	for _, c := range []struct {
		name  string
		b     Booking
		until time.Time
		now   time.Time
		want  string
	}{
		{"a quarter", meeting(CheckedIn), at(11, 15), at(10, 50), ""},
		{"nobody checked in, but it runs", meeting(Booked), at(11, 15), at(10, 5), ""},
		{"checked in early", meeting(CheckedIn), at(11, 15), at(9, 56), ""},
		{"not begun", meeting(Booked), at(11, 15), at(9, 0), "the meeting has not begun: change the end of the booking instead"},
		{"to the same end", meeting(CheckedIn), at(11, 0), at(10, 50), "end_time is not after the present end, Mon 2 Mar 11:00"},
		{"over long ago", meeting(CheckedIn), at(11, 15), at(12, 0), "end_time is past: book the room again"},
		{"past closing", meeting(CheckedIn), at(18, 15), at(10, 50), "end_time is outside the opening hours: the space closes at Mon 2 Mar 18:00"},
		{"only what is added is judged", late, at(9, 30), at(8, 55), ""},
		{"too long", meeting(CheckedIn), at(34, 15), at(10, 50), "end_time makes it 24 h 15 min long: at most 24 h"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := c.b.Extend(c.until, r, c.now)
			if c.want != "" {
				text(t, err, c.want)
				return
			}
			if err != nil || !b.End.Equal(c.until) || !b.PlannedEnd.Equal(c.b.End) || b.Revision != 2 {
				t.Fatalf("got %+v, %v", b, err)
			}
			more, err := b.Extend(c.until.Add(time.Hour), r, c.now)
			if err != nil || !more.PlannedEnd.Equal(c.b.End) {
				t.Fatalf("the first planned end is lost: %+v, %v", more, err)
			}
		})
	}
	for _, s := range over {
		_, err := meeting(s).Extend(at(11, 15), r, at(10, 50))
		refused(t, err, problem.NotNow, "")
	}
}

func TestExtendStopsAtTheNextMeeting(t *testing.T) {
	next := meeting(Booked)
	next.ID, next.Start, next.End = "next", at(11, 0), at(12, 0)
	b := meeting(CheckedIn)
	s := NewSchedule([]Booking{b, next})
	longer, err := b.Extend(at(11, 15), Default(), at(10, 50))
	if err != nil {
		t.Fatal(err)
	}
	err = s.Free(longer.Start, longer.End, b.ID)
	refused(t, err, problem.Conflict, "start_time")
	text(t, err, "start_time is not free: the space is booked 2026-03-02 11:00 to 12:00 UTC")
	if err := s.Free(b.Start, b.End, b.ID); err != nil {
		t.Fatalf("a booking is in its own way: %v", err)
	}
}

func TestEndAndCancel(t *testing.T) {
	for _, c := range []struct {
		name  string
		do    func(Booking, time.Time) (Booking, error)
		state State
		now   time.Time
		want  State
		end   time.Time
		early bool // the planned end is kept
	}{
		{"end early", Booking.EndNow, CheckedIn, at(10, 40), Ended, at(10, 40), true},
		{"end one that nobody came to", Booking.EndNow, Booked, at(10, 40), Ended, at(10, 40), true},
		{"end at the end", Booking.EndNow, CheckedIn, at(11, 0), Ended, at(11, 0), false},
		{"end late", Booking.EndNow, CheckedIn, at(11, 30), Ended, at(11, 0), false},
		{"end before the start", Booking.EndNow, CheckedIn, at(9, 58), Ended, at(11, 0), false},
		{"cancel", Booking.Cancel, Booked, at(9, 0), Cancelled, at(11, 0), false},
		{"cancel a running one is its end", Booking.Cancel, CheckedIn, at(10, 40), Ended, at(10, 40), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := c.do(meeting(c.state), c.now)
			if err != nil {
				t.Fatalf("got %+v, %v", b, err)
			}
			goldentest.Values(t, "the booking", goldentest.Pairs{"State": {b.State, c.want}, "End": {b.End.Equal(c.end), true},
				"Live": {b.Live(), false}, "Revision": {b.Revision, 2}})
			if (b.State == Ended) != b.EndedAt.Equal(c.now) {
				t.Fatalf("ended at %s", b.EndedAt)
			}
			if planned := (time.Time{}); c.early && !b.PlannedEnd.Equal(at(11, 0)) || !c.early && !b.PlannedEnd.Equal(planned) {
				t.Fatalf("planned end %s", b.PlannedEnd)
			}
			if again, err := c.do(b, c.now.Add(time.Minute)); again != b {
				t.Fatalf("once more changed it: %+v, %v", again, err)
			}
		})
	}
	_, err := meeting(Booked).EndNow(at(9, 0))
	text(t, err, "the meeting has not begun: cancel the booking instead")
	for _, s := range over {
		if s != Ended {
			_, err := meeting(s).EndNow(at(10, 30))
			refused(t, err, problem.NotNow, "")
		}
		if s != Cancelled {
			_, err := meeting(s).Cancel(at(10, 30))
			text(t, err, "the booking is "+string(s)+" and cannot be cancelled")
		}
	}
	extended, _ := meeting(CheckedIn).Extend(at(12, 0), Default(), at(10, 30))
	ended, err := extended.EndNow(at(11, 30))
	if err != nil || !ended.PlannedEnd.Equal(at(11, 0)) {
		t.Fatalf("got %+v, %v", ended, err)
	}
}

func TestReleaseAndEmpty(t *testing.T) {
	b := meeting(Booked).ReleaseNow("nobody came", at(10, 10))
	goldentest.Values(t, "the booking", goldentest.Pairs{"State": {b.State, Released},
		"ReleasedAt": {b.ReleasedAt.Equal(at(10, 10)), true}, "Reason": {b.Reason, "nobody came"}, "Live": {b.Live(), false},
		"Revision": {b.Revision, 2}})
	b = meeting(CheckedIn).EndEmpty("the room is empty", at(10, 40))
	if b.State != Ended || b.Reason != "the room is empty" || !b.PlannedEnd.Equal(at(11, 0)) || b.Revision != 2 {
		t.Fatalf("got %+v", b)
	}
}
