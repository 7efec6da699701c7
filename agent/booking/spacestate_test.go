package booking

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// booked makes bookings of pairs of minutes of the Monday, "m0", "m1", ...
func booked(minutes ...[2]int) []Booking {
	var all []Booking
	for i, m := range minutes {
		b := meeting(Booked)
		b.ID, b.Start, b.End = fmt.Sprintf("m%d", i), at(0, m[0]), at(0, m[1])
		all = append(all, b)
	}
	return all
}

func TestStateAt(t *testing.T) {
	present := func(all []Booking) []Booking { all[0].State = CheckedIn; return all }
	hold := func(s Status, from, until time.Time) []Hold {
		return []Hold{{ID: "h", Status: s, From: from, Until: until}}
	}
	ten := booked([2]int{600, 660})
	run := booked([2]int{600, 660}, [2]int{660, 720}, [2]int{725, 780}) // five minutes between the last two
	evening := booked([2]int{1020, 1080})
	hours := func(r *Rules) { r.Hours = workdays }
	never := time.Time{}
	for _, c := range []struct {
		name              string
		all               []Booking
		holds             []Hold
		rules             func(*Rules)
		now               time.Time
		status            Status
		current, next     string
		freeUntil, freeAt time.Time
		until             time.Time
	}{
		{"nothing booked", nil, nil, nil, at(9, 0), Available, "", "", never, at(9, 0), never},
		{"free for now", ten, nil, nil, at(9, 0), Available, "", "m0", at(10, 0), at(9, 0), at(9, 50)},
		{"about to be", ten, nil, nil, at(9, 50), Reserved, "", "m0", never, at(11, 0), at(10, 0)},
		{"nobody has come", ten, nil, nil, at(10, 5), Reserved, "m0", "", never, at(11, 0), at(11, 0)},
		{"under way", present(booked([2]int{600, 660})), nil, nil, at(10, 5), Occupied, "m0", "", never, at(11, 0), at(11, 0)},
		{"they came early", present(booked([2]int{600, 660})), nil, nil, at(9, 55), Occupied, "", "m0", never, at(11, 0), at(10, 0)},
		{"no check-in wanted", ten, nil, func(r *Rules) { r.CheckIn = false }, at(10, 5), Occupied, "m0", "", never, at(11, 0), at(11, 0)},
		{"over", ten, nil, nil, at(11, 0), Available, "", "", never, at(11, 0), never},
		{"one after the other", run, nil, nil, at(10, 30), Reserved, "m0", "m1", never, at(13, 0), at(10, 50)},
		{"a gap that is too short", run, nil, nil, at(12, 1), Reserved, "", "m2", never, at(13, 0), at(12, 5)},
		{"a gap that is long enough", run, nil, func(r *Rules) { r.Opens = 0 }, at(10, 30), Reserved, "m0", "m1", never, at(12, 0), at(11, 0)},
		{"closed at night", nil, nil, hours, at(7, 0), Disabled, "", "", never, at(8, 0), at(8, 0)},
		{"open until", nil, nil, hours, at(9, 0), Available, "", "", at(18, 0), at(9, 0), at(18, 0)},
		{"booked until it closes", evening, nil, hours, at(17, 5), Reserved, "m0", "", never, at(32, 0), at(18, 0)},
		{"people stay after it closes", present(booked([2]int{1020, 1140})), nil, hours, at(18, 30), Occupied, "m0", "", never, at(32, 0), at(19, 0)},
		{"disabled by somebody", ten, hold(Disabled, at(9, 0), at(12, 0)), nil, at(9, 30), Disabled, "", "m0", never, at(12, 0), at(9, 50)},
		{"disabled for good", ten, hold(Disabled, at(9, 0), never), nil, at(9, 30), Disabled, "", "m0", never, never, at(9, 50)},
		{"occupied, somebody says", nil, hold(Occupied, at(9, 0), at(12, 0)), nil, at(9, 30), Occupied, "", "", never, at(12, 0), at(12, 0)},
		{"a hold to come", nil, hold(Disabled, at(12, 0), at(13, 0)), nil, at(9, 0), Available, "", "", at(12, 0), at(9, 0), at(12, 0)},
		{"booked until a hold", ten, hold(Disabled, at(11, 0), at(13, 0)), nil, at(10, 5), Reserved, "m0", "", never, at(13, 0), at(11, 0)},
		{"available, somebody says", ten, hold(Available, at(10, 0), at(10, 30)), nil, at(10, 5), Available, "m0", "", at(10, 30), at(10, 5), at(10, 30)},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Default()
			if c.rules != nil {
				c.rules(&r)
			}
			g := r.StateAt(c.now, NewSchedule(c.all), c.holds)
			if g.Status != c.status || name(g.Current) != c.current || name(g.Next) != c.next {
				t.Fatalf("got %s, current %q, next %q", g.Status, name(g.Current), name(g.Next))
			}
			if !g.AvailableUntil.Equal(c.freeUntil) || !g.NextAvailable.Equal(c.freeAt) || !g.Until.Equal(c.until) {
				t.Fatalf("available until %s, next %s, changes %s", g.AvailableUntil, g.NextAvailable, g.Until)
			}
		})
	}
}

func name(b *Booking) string {
	if b == nil {
		return ""
	}
	return b.ID
}

// A space that is booked out day after day is free after all of them, however
// many nights lie between.
func TestStateAfterWeeksBookedOut(t *testing.T) {
	r := rulesIn(time.UTC, func(r *Rules) { r.Hours = always(); r.Hours[time.Sunday] = Hours{600, 660} })
	var all []Booking
	for d := range 100 {
		b := meeting(Booked)
		b.ID, b.Start = fmt.Sprintf("d%d", d), monday.AddDate(0, 0, d)
		b.End = b.Start.AddDate(0, 0, 1)
		all = append(all, b)
	}
	if g := r.StateAt(at(12, 0), NewSchedule(all), nil); !g.NextAvailable.Equal(monday.AddDate(0, 0, 100)) {
		t.Fatalf("got %s", g.NextAvailable)
	}
	r.Horizon = 50 * 24 * time.Hour
	if g := r.StateAt(at(12, 0), NewSchedule(all), nil); !g.NextAvailable.IsZero() {
		t.Fatalf("beyond the horizon: got %s", g.NextAvailable)
	}
}

// drawPlan draws what a space may be like for two days, to the minute.
func drawPlan(t *rapid.T) (r Rules, all []Booking, holds []Hold) {
	r = rulesIn(time.FixedZone("", 5*3600+45*60), func(r *Rules) {
		r.Horizon = 48 * time.Hour
		r.Opens = time.Duration(rapid.IntRange(0, 20).Draw(t, "opens")) * time.Minute
		r.Minimum = time.Duration(rapid.IntRange(1, 30).Draw(t, "minimum")) * time.Minute
	})
	if rapid.Bool().Draw(t, "hours") {
		r.Hours = Week{}
		for d := range 7 {
			from := rapid.IntRange(0, 1400).Draw(t, "from")
			r.Hours[time.Weekday(d)] = Hours{from, rapid.IntRange(from, 1440).Draw(t, "until")}
		}
	}
	var pairs [][2]int
	for end := 0; end < 2880 && len(pairs) < 20; {
		start := end + rapid.SampledFrom([]int{0, 0, 1, 7, 15, 60, 400}).Draw(t, "gap")
		end = start + rapid.IntRange(1, 300).Draw(t, "length")
		pairs = append(pairs, [2]int{start, end})
	}
	all = booked(pairs...)
	for i := range all {
		all[i].State = rapid.SampledFrom([]State{Booked, Booked, CheckedIn, Released}).Draw(t, "state")
	}
	for range rapid.IntRange(0, 2).Draw(t, "holds") {
		from := rapid.IntRange(0, 2880).Draw(t, "hold")
		h := Hold{Status: rapid.SampledFrom([]Status{Disabled, Reserved, Occupied}).Draw(t, "status"), From: at(0, from)}
		if rapid.IntRange(0, 5).Draw(t, "open end") > 0 {
			h.Until = at(0, from+rapid.IntRange(1, 600).Draw(t, "hold length"))
		}
		holds = append(holds, h)
	}
	return r, all, holds
}

// slowNextFree looks at every minute.
func slowNextFree(r Rules, now time.Time, all []Booking, holds []Hold) time.Time {
	limit := now.Add(r.Horizon)
	for at := now; at.Before(limit); at = at.Add(time.Minute) {
		if fits(r, at, all, holds) {
			return at
		}
	}
	return time.Time{}
}

func fits(r Rules, at time.Time, all []Booking, holds []Hold) bool {
	for _, b := range all {
		if b.Live() && (b.Overlaps(at, at.Add(r.Minimum)) || b.Start.After(at) && b.Start.Sub(at) <= r.Opens) {
			return false
		}
	}
	for _, h := range holds {
		if h.Overlaps(at, at.Add(r.Minimum)) {
			return false
		}
	}
	for m := at; m.Before(at.Add(r.Minimum)); m = m.Add(time.Minute) {
		here := m.In(r.Zone)
		hours, open := r.Hours[here.Weekday()]
		if minute := here.Hour()*60 + here.Minute(); len(r.Hours) > 0 && (!open || minute < hours.From || minute >= hours.Until) {
			return false
		}
	}
	return true
}

func TestNextFreeIsTheFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, all, holds := drawPlan(t)
		now := at(0, rapid.IntRange(0, 2000).Draw(t, "now"))
		s := NewSchedule(all)
		want := slowNextFree(r, now, all, holds)
		got := r.nextFree(now, s, holds)
		if !got.Equal(want) {
			t.Fatalf("got %s, want %s", got, want)
		}
		if want.IsZero() {
			return
		}
		if g := r.StateAt(want, s, holds); g.Status != Available {
			t.Fatalf("at %s, when it is free, the state is %s", want, g.Status)
		}
	})
}

// What the state is holds until the moment that it names.
func TestStateHoldsUntil(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, all, holds := drawPlan(t)
		s := NewSchedule(all)
		now := at(0, rapid.IntRange(0, 2000).Draw(t, "now"))
		g := r.StateAt(now, s, holds)
		until := g.Until
		if until.IsZero() {
			until = now.Add(72 * time.Hour)
		}
		if !until.After(now) {
			t.Fatalf("at %s it says that it changes at %s", now, until)
		}
		for _, later := range []time.Time{now.Add(until.Sub(now) / 2), now.Add(until.Sub(now) / 7), until.Add(-1)} {
			l := r.StateAt(later, s, holds)
			if l.Status != g.Status || name(l.Current) != name(g.Current) || name(l.Next) != name(g.Next) || !l.AvailableUntil.Equal(g.AvailableUntil) {
				t.Fatalf("at %s until %s: %+v\nat %s: %+v", now, until, g, later, l)
			}
		}
		if !g.AvailableUntil.IsZero() && g.AvailableUntil.Before(g.Until) {
			t.Fatalf("available until %s, and the state changes at %s", g.AvailableUntil, g.Until)
		}
	})
}
