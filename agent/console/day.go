package console

import (
	"fmt"
	"slices"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/printable"
	"roomgate/agent/problem"
	"roomgate/agent/schedule"
	"roomgate/agent/site"
)

const (
	// rowLength is what a row of the day stands for.
	rowLength  = 15 * time.Minute
	rowsAnHour = int(time.Hour / rowLength)
	// dayBegins and dayEnds are the hours that a day shows at least.
	dayBegins, dayEnds = 7, 19
	// maxOfDay bounds the bookings of a day that are shown.
	maxOfDay = 100
)

// Day is a day of a space as a grid.
type Day struct {
	SpaceID          string
	Title            string // of the day
	Date, Prev, Next string // as in addresses
	Today, Past      bool
	Books            bool // a booking may be made on it
	Rows             int
	Hours            []Cell
	Free             []Cell // half an hour each
	Meetings         []Meeting
	Now              int // the row of now; 0: it is not on it

	date time.Time // its midnight
}

// Cell is a part of the grid.
type Cell struct {
	Row, Span   int
	Text, Start string
}

// Meeting is a booking in the grid.
type Meeting struct {
	Cell
	ID, Title, Who, State string
	Over                  bool   // nothing can be done with it any more
	Lane                  string // the classes of its place beside others in its rows; empty: it is alone
}

// day is the day that the query names, today if it names none.
func (l *Look) day(s *site.Space) (d Day, err error) {
	now := l.o.Agent.Now().In(s.Room.Terms().Zone)
	date := now
	if text := l.Query.Get("day"); text != "" {
		if date, err = time.ParseInLocation(time.DateOnly, text, now.Location()); err != nil {
			return d, problem.New(problem.Invalid, "day", "is no day: want one like 2026-11-23")
		}
	}
	from := midnight(date, 0)
	d = Day{SpaceID: s.ID, Title: from.Format("Monday 2 January 2006"), Date: from.Format(time.DateOnly), Prev: midnight(from, -1).Format(time.DateOnly),
		Next: midnight(from, 1).Format(time.DateOnly), Today: from.Equal(midnight(now, 0)), Past: midnight(from, 1).Before(now), date: from}
	d.Books = !d.Past
	if !l.trusted() {
		d.Today, d.Past, d.Books, now = false, false, false, time.Time{}
	}
	d.fill(l.meetings(s.Room, from), now, s.Room.Terms().Zone)
	return d, nil
}

// midnight is that of a date, some days on.
func midnight(t time.Time, days int) time.Time {
	y, m, day := t.Date()
	return time.Date(y, m, day+days, 0, 0, 0, 0, t.Location())
}

// meetings are the bookings of a day that hold or held their time, as who looks sees them.
func (l *Look) meetings(r *schedule.Room, from time.Time) (all []booking.Booking) {
	for _, b := range r.Bookings().All(from, midnight(from, 1)) {
		if (b.Live() || b.State == booking.Ended && b.End.After(b.Start)) && len(all) < maxOfDay {
			all = append(all, l.o.SeenBy(&l.Who, b))
		}
	}
	return all
}

// fill lays bookings into the grid; now is zero if nobody knows what time it is.
func (d *Day) fill(all []booking.Booking, now time.Time, zone *time.Location) {
	first, last := dayBegins, dayEnds
	for _, b := range all {
		first = min(first, d.hour(b.Start.In(zone)))
		last = max(last, d.hour(b.End.In(zone).Add(time.Hour-time.Second)))
	}
	if d.Today {
		first, last = min(first, now.Hour()), max(last, min(now.Hour()+3, 24))
	}
	d.Rows = (last - first) * rowsAnHour
	taken := map[int]bool{}
	for _, b := range all {
		m := newMeeting(b, now, zone)
		m.Row, m.Span = d.place(b.Start.In(zone), b.End.In(zone), first)
		for row := m.Row; row < m.Row+m.Span; row++ {
			taken[row] = true
		}
		d.Meetings = append(d.Meetings, m)
	}
	lanes(d.Meetings)
	for hour := first; hour < last; hour++ {
		row := (hour-first)*rowsAnHour + 1
		d.Hours = append(d.Hours, Cell{Row: row, Span: rowsAnHour, Text: fmt.Sprintf("%02d:00", hour)})
		for half := range 2 {
			at := time.Date(d.date.Year(), d.date.Month(), d.date.Day(), hour, half*30, 0, 0, zone)
			if row := row + half*2; !taken[row] && !taken[row+1] && d.Books && at.Add(rowLength).After(now) {
				d.Free = append(d.Free, Cell{row, 2, at.Format("15:04"), stampOf(at)})
			}
		}
	}
	if row, _ := d.place(now, now, first); d.Today && now.Hour() >= first && now.Hour() < last {
		d.Now = row
	}
}

// lanes lays meetings that share rows beside each other, three at most.
func lanes(all []Meeting) {
	for from := 0; from < len(all); {
		to, end, ends := from, 0, [3]int{}
		var of []int
		for ; to < len(all) && (to == from || all[to].Row < end); to++ {
			m, lane := all[to], 0
			for lane < len(ends)-1 && ends[lane] > m.Row {
				lane++
			}
			ends[lane] = m.Row + m.Span
			end, of = max(end, ends[lane]), append(of, lane)
		}
		for i, lane := range of {
			if most := slices.Max(of); most > 0 {
				all[from+i].Lane = fmt.Sprintf("of%d lane%d", most+1, lane)
			}
		}
		from = to
	}
}

// hour is that of a time on the day, 0 before it and 24 after it.
func (d *Day) hour(t time.Time) int {
	switch {
	case t.Before(d.date):
		return 0
	case !t.Before(midnight(d.date, 1)):
		return 24
	}
	return t.Hour()
}

// place is from which row on an interval stands, and how many it takes.
func (d *Day) place(start, end time.Time, first int) (row, span int) {
	at := func(t time.Time) int {
		hour := d.hour(t)
		if hour == 0 && t.Before(d.date) || hour == 24 {
			return (hour - first) * rowsAnHour
		}
		return (hour-first)*rowsAnHour + t.Minute()/int(rowLength/time.Minute)
	}
	row = at(start)
	return row + 1, max(at(end.Add(rowLength-time.Second))-row, 1)
}

func newMeeting(b booking.Booking, now time.Time, zone *time.Location) Meeting {
	m := Meeting{ID: b.ID, Title: printable.Clean(b.Title), Who: printable.Clean(b.Organizer.Name), State: string(b.State), Over: !b.Live() || b.End.Before(now)}
	switch {
	case m.Title == "" && b.Private:
		m.Title = "Private"
	case m.Title == "" && b.Source == booking.WalkUp:
		m.Title = "Walk-up"
	case m.Title == "":
		m.Title = "Meeting"
	}
	m.Text = b.Start.In(zone).Format("15:04") + "–" + b.End.In(zone).Format("15:04")
	return m
}
