package booking

import (
	"testing"
	"time"

	"roomgate/agent/problem"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Skipf("no time zone data: %v", err)
	}
	return z
}

// rulesIn are the default rules with changes.
func rulesIn(z *time.Location, changes ...func(*Rules)) Rules {
	r := Default()
	r.Zone = z
	for _, f := range changes {
		f(&r)
	}
	return r
}

// refused wants an error with that code that names that field.
func refused(t *testing.T, err error, code problem.Code, field string) {
	t.Helper()
	p := problem.As(err)
	if p == nil {
		t.Fatalf("got %v, want an error with the code %s", err, code)
	}
	if p.Code != code || p.Field != field {
		t.Fatalf("got %s with field %q (%v), want %s with %q", p.Code, p.Field, err, code, field)
	}
}

// text wants the words of an error, as a person reads them.
func text(t *testing.T, err error, want string) {
	t.Helper()
	got := "<nil>"
	if err != nil {
		got = err.Error()
	}
	if got != want {
		t.Fatalf("got  %q\nwant %q", got, want)
	}
}

// times reads "2006-01-02 15:04[:05]" on the clocks of a zone.
func local(t testing.TB, z *time.Location, s string) time.Time {
	t.Helper()
	for _, layout := range []string{"2006-01-02 15:04", "2006-01-02 15:04:05"} {
		if at, err := time.ParseInLocation(layout, s, z); err == nil {
			return at
		}
	}
	t.Fatalf("%q is no time", s)
	return time.Time{}
}

// workdays are open from 8 to 18 from Monday to Friday, and all Saturday.
var workdays = Week{time.Monday: {480, 1080}, time.Tuesday: {480, 1080}, time.Wednesday: {480, 1080},
	time.Thursday: {480, 1080}, time.Friday: {480, 1440}, time.Saturday: {0, 1440}}

func TestNewJudgesTheTimes(t *testing.T) {
	const now = "2026-03-02 09:20" // a Monday
	noCurrent := func(r *Rules) { r.AllowCurrent = false }
	hours := func(r *Rules) { r.Hours = workdays }
	hourly := func(r *Rules) { r.Slot = time.Hour }
	noGrid := func(r *Rules) { r.Slot = 0 }
	for _, c := range []struct {
		name       string
		zone       string
		rules      func(*Rules)
		source     Source
		start, end string
		want       string // "" is taken
	}{
		{"ahead", "UTC", nil, Local, "2026-03-02 10:00", "2026-03-02 11:00", ""},
		{"contiguous quarters", "UTC", nil, Local, "2026-03-02 10:15", "2026-03-02 10:30", ""},
		{"no start", "UTC", nil, Local, "", "2026-03-02 11:00", "start_time is missing"},
		{"no end", "UTC", nil, Local, "2026-03-02 10:00", "", "end_time is missing"},
		{"no length", "UTC", nil, Local, "2026-03-02 10:00", "2026-03-02 10:00", "end_time is the start_time: want at least 5 min"},
		{"backwards", "UTC", nil, Local, "2026-03-02 10:00", "2026-03-02 09:45", "end_time is before start_time"},
		{"too short", "UTC", noGrid, Local, "2026-03-02 10:00", "2026-03-02 10:04:30", "end_time leaves 4 min 30 s: want at least 5 min"},
		{"as long as may be", "UTC", nil, Local, "2026-03-02 10:00", "2026-03-03 10:00", ""},
		{"too long", "UTC", nil, Local, "2026-03-02 10:00", "2026-03-03 10:15", "end_time makes it 24 h 15 min long: at most 24 h"},
		{"start off the grid", "UTC", nil, Local, "2026-03-02 10:07", "2026-03-02 11:00", "start_time is 10:07 there, off the grid of 15 min: 10:00 or 10:15 fits"},
		{"end off the grid", "UTC", nil, Local, "2026-03-02 10:00", "2026-03-02 23:50", "end_time is 23:50 there, off the grid of 15 min: 23:45 or 00:00 fits"},
		{"seconds", "UTC", nil, Local, "2026-03-02 10:00:30", "2026-03-02 11:00", "start_time is 10:00:30 there, off the grid of 15 min: 10:00 or 10:15 fits"},
		{"no grid takes minutes", "UTC", noGrid, Local, "2026-03-02 10:07", "2026-03-02 10:19", ""},
		{"no grid takes no seconds", "UTC", noGrid, Local, "2026-03-02 10:07:30", "2026-03-02 10:19", "start_time is 10:07:30 there, off the grid of 1 min: 10:07 or 10:08 fits"},
		{"a whole hour in India", "Asia/Kolkata", hourly, Local, "2026-03-02 10:00", "2026-03-02 11:00", ""},
		{"a whole hour elsewhere is none in India", "Asia/Kolkata", hourly, Local, "2026-03-02 10:30", "2026-03-02 11:30", "start_time is 10:30 there, off the grid of 60 min: 10:00 or 11:00 fits"},
		{"a half hour in Nepal", "Asia/Kathmandu", func(r *Rules) { r.Slot = 30 * time.Minute }, Local, "2026-03-02 10:30", "2026-03-02 11:00", ""},
		{"the current slot", "UTC", nil, Local, "2026-03-02 09:15", "2026-03-02 10:00", ""},
		{"the slot before", "UTC", nil, Local, "2026-03-02 09:00", "2026-03-02 10:00", "start_time is past: the current slot can be booked, none before it"},
		{"the current slot, not allowed", "UTC", noCurrent, Local, "2026-03-02 09:15", "2026-03-02 10:00", "start_time is not ahead, and the space takes no bookings for the current time"},
		{"the next slot, then", "UTC", noCurrent, Local, "2026-03-02 09:30", "2026-03-02 10:00", ""},
		{"over already", "UTC", nil, WalkUp, "2026-03-02 09:10", "2026-03-02 09:15", "end_time is past"},
		{"yesterday", "UTC", nil, Local, "2026-03-01 10:00", "2026-03-01 11:00", "start_time is past: the current slot can be booked, none before it"},
		{"the last day", "UTC", nil, Local, "2026-08-29 09:15", "2026-08-29 10:00", ""},
		{"beyond the horizon", "UTC", nil, Local, "2026-08-29 09:30", "2026-08-29 10:00", "start_time is too far ahead: at most 180 days"},
		{"a walk-up", "UTC", nil, WalkUp, "2026-03-02 09:20", "2026-03-02 11:20", ""},
		{"a walk-up of a fast clock", "UTC", nil, WalkUp, "2026-03-02 09:21", "2026-03-02 10:00", ""},
		{"a walk-up for later", "UTC", nil, WalkUp, "2026-03-02 09:25", "2026-03-02 10:00", "start_time is ahead: a walk-up begins now, leave it out"},
		{"a walk-up too long", "UTC", nil, WalkUp, "2026-03-02 09:20", "2026-03-02 11:21", "end_time makes the walk-up 2 h 1 min long: at most 2 h"},
		{"a walk-up, not allowed", "UTC", noCurrent, WalkUp, "2026-03-02 09:20", "2026-03-02 10:00", "start_time is not ahead, and the space takes no bookings for the current time"},
		{"within the hours", "UTC", hours, Local, "2026-03-02 17:00", "2026-03-02 18:00", ""},
		{"into the evening", "UTC", hours, Local, "2026-03-02 17:00", "2026-03-02 18:15", "end_time is outside the opening hours: the space closes at Mon 2 Mar 18:00"},
		{"before it opens", "UTC", hours, Local, "2026-03-03 07:45", "2026-03-03 09:00", "start_time is outside the opening hours: the space is closed at Tue 3 Mar 07:45"},
		{"over an open midnight", "UTC", hours, Local, "2026-03-06 22:00", "2026-03-07 03:00", ""},
		{"over a closed midnight", "UTC", hours, Local, "2026-03-07 22:00", "2026-03-08 03:00", "end_time is outside the opening hours: the space closes at Sun 8 Mar 00:00"},
		{"on a closed day", "UTC", hours, Local, "2026-03-08 10:00", "2026-03-08 11:00", "start_time is outside the opening hours: the space is closed at Sun 8 Mar 10:00"},
		{"hours are the local clock's", "America/New_York", hours, Local, "2026-03-03 08:00", "2026-03-03 18:00", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			z := zone(t, c.zone)
			r := rulesIn(z)
			if c.rules != nil {
				c.rules(&r)
			}
			asked := Booking{ID: "b", Source: c.source}
			if c.start != "" {
				asked.Start = local(t, z, c.start)
			}
			if c.end != "" {
				asked.End = local(t, z, c.end)
			}
			b, err := New(asked, r, local(t, z, now))
			if c.want != "" {
				text(t, err, c.want)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if b.Start.Location() != time.UTC || b.Revision != 1 || b.CreatedAt.IsZero() {
				t.Fatalf("got %+v", b)
			}
			if (b.State == CheckedIn) != (c.source == WalkUp) || !b.Start.Equal(asked.Start) {
				t.Fatalf("got %+v", b)
			}
		})
	}
}

// What the clocks do in a night of change is judged as they show it.
func TestNewWhereClocksChange(t *testing.T) {
	berlin, lordHowe := zone(t, "Europe/Berlin"), zone(t, "Australia/Lord_Howe")
	utc := func(s string) time.Time { return local(t, time.UTC, s) }
	hourly := func(r *Rules) { r.Slot = time.Hour }
	for _, c := range []struct {
		name       string
		zone       *time.Location
		rules      []func(*Rules)
		start, end time.Time
		want       string
	}{
		// On 29 March 2026 at 02:00 the clocks of Berlin go to 03:00, at 01:00 UTC.
		{"over the gap", berlin, nil, utc("2026-03-29 00:30"), utc("2026-03-29 01:30"), ""}, // 01:30 to 03:30
		{"24 clock hours over the gap are 23", berlin, nil, local(t, berlin, "2026-03-28 12:00"), local(t, berlin, "2026-03-29 12:00"), ""},
		{"a day and an hour over the gap", berlin, nil, local(t, berlin, "2026-03-28 12:00"), local(t, berlin, "2026-03-29 13:00"), ""},
		{"one more", berlin, nil, local(t, berlin, "2026-03-28 12:00"), local(t, berlin, "2026-03-29 13:15"), "end_time makes it 24 h 15 min long: at most 24 h"},
		// On 25 October 2026 at 03:00 they go back to 02:00, at 01:00 UTC.
		{"the hour that comes twice", berlin, nil, utc("2026-10-25 00:00"), utc("2026-10-25 02:00"), ""}, // 02:00 to 03:00, two hours
		{"its second half alone", berlin, nil, utc("2026-10-25 01:00"), utc("2026-10-25 01:30"), ""},
		{"24 clock hours over the overlap are 25", berlin, nil, local(t, berlin, "2026-10-24 12:00"), local(t, berlin, "2026-10-25 12:00"), "end_time makes it 25 h long: at most 24 h"},
		// On Lord Howe the clocks move by half an hour: on 5 April 2026 at 02:00 back to 01:30.
		{"a change by half an hour", lordHowe, []func(*Rules){hourly}, local(t, lordHowe, "2026-04-05 01:00"), local(t, lordHowe, "2026-04-05 03:00"), ""},
		{"leap day", berlin, []func(*Rules){func(r *Rules) { r.Horizon = 3 * 366 * 24 * time.Hour }}, local(t, berlin, "2028-02-29 09:00"), local(t, berlin, "2028-02-29 10:00"), ""},
		{"into leap day", berlin, []func(*Rules){func(r *Rules) { r.Horizon = 3 * 366 * 24 * time.Hour }}, local(t, berlin, "2028-02-28 23:00"), local(t, berlin, "2028-02-29 01:00"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rulesIn(c.zone, c.rules...)
			r.Horizon = max(r.Horizon, 400*24*time.Hour)
			_, err := New(Booking{ID: "b", Start: c.start, End: c.end}, r, utc("2026-03-02 09:00"))
			if c.want == "" {
				c.want = "<nil>"
			}
			text(t, err, c.want)
		})
	}
}

func TestNewJudgesTheTexts(t *testing.T) {
	long := string(make([]byte, 501))
	at := monday.Add(10 * time.Hour)
	for field, b := range map[string]Booking{
		"id":              {ID: "../x"},
		"title":           {ID: "b", Title: long},
		"organizer.name":  {ID: "b", Organizer: Person{Name: long}},
		"organizer.email": {ID: "b", Organizer: Person{Email: "nobody"}},
		"external_id":     {ID: "b", ExternalID: long + long},
		"organization_id": {ID: "b", OrganizationID: long},
	} {
		b.Start, b.End = at, at.Add(time.Hour)
		_, err := New(b, Default(), monday)
		refused(t, err, problem.Invalid, field)
	}
}

func TestShort(t *testing.T) {
	for want, d := range map[string]time.Duration{"0 min": 0, "45 s": 45 * time.Second, "5 min": 5 * time.Minute,
		"1 h 30 min": 90 * time.Minute, "24 h": 24 * time.Hour, "24 h 1 s": 24*time.Hour + time.Second} {
		if got := short(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}

func TestSpan(t *testing.T) {
	if got := span(at(10, 0), at(34, 30)); got != "2026-03-02 10:00 to 2026-03-03 10:30 UTC" {
		t.Errorf("got %q", got)
	}
}

// TestAWholeDayCanBeBooked: also one on which clocks are set.
func TestAWholeDayCanBeBooked(t *testing.T) {
	r := Default()
	r.Zone = zone(t, "Europe/Berlin")
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r.Horizon = 400 * 24 * time.Hour
	for _, c := range []struct {
		month   time.Month
		day     int
		hours   float64 // that it takes
		longest time.Duration
		after   time.Duration // that is booked beyond
		ok      bool
	}{
		{time.March, 28, 24, 24 * time.Hour, 0, true}, {time.March, 29, 23, 24 * time.Hour, 0, true}, {time.October, 25, 25, 24 * time.Hour, 0, true},
		{time.October, 25, 25, 24 * time.Hour, 15 * time.Minute, false}, {time.March, 28, 24, 24 * time.Hour, 15 * time.Minute, false},
		{time.October, 25, 25, 23 * time.Hour, 0, false}, {time.October, 25, 25, 25 * time.Hour, 0, true},
	} {
		start := time.Date(2026, c.month, c.day, 0, 0, 0, 0, r.Zone)
		end := time.Date(2026, c.month, c.day+1, 0, 0, 0, 0, r.Zone)
		if got := end.Sub(start).Hours(); got != c.hours {
			t.Fatalf("%s %d has %v hours", c.month, c.day, got)
		}
		r.Longest = c.longest
		_, err := New(Booking{ID: "m", SpaceID: "room", Source: Local, Start: start, End: end.Add(c.after)}, r, now)
		if (err == nil) != c.ok {
			t.Errorf("%s %d and %s, at most %s: %v", c.month, c.day, c.after, c.longest, err)
		}
	}
}
