package web

import (
	"time"

	"roomgate/agent/booking"
)

// The day as a bar, in units of its drawing.
const (
	barWidth  = 1200
	dayBegins = 7  // o'clock, if nothing is earlier
	dayEnds   = 20 // o'clock, if nothing is later
)

// Day is the day as a bar.
type Day struct {
	Label string // what a screen reader says
	Now   int    // where now is
	Slots []Slot
	Hours []Hour
}

// Slot is a time that is taken.
type Slot struct {
	X, Width int
	Past     bool
	Running  bool
}

// Hour is a mark of the bar.
type Hour struct {
	X     int
	Text  string
	Minor bool // a small page leaves its text out
}

// Day is today; nil if nobody knows what day it is.
func (d door) Day() *Day {
	if !d.v.ClockTrusted {
		return nil
	}
	now := d.v.Now
	from, to := d.span()
	at := func(t time.Time) int {
		return int(int64(barWidth) * int64(min(max(t.Sub(from), 0), to.Sub(from))) / int64(to.Sub(from)))
	}
	day := &Day{Now: at(now), Label: d.T("day.free")}
	var last booking.Booking
	for _, b := range d.v.Today {
		x, end := at(b.Start), at(b.End)
		day.Slots = append(day.Slots, Slot{x, max(end-x-2, 2), !b.End.After(now), !b.Start.After(now) && b.End.After(now)})
		last = b
	}
	if n := len(d.v.Today); n > 0 {
		day.Label = d.T("day.busy", "count", n, "until", d.clock(last.End))
	}
	step := time.Hour
	if to.Sub(from) > 14*time.Hour {
		step *= 2
	}
	for h := from; !h.Add(step).After(to); h = h.Add(step) {
		day.Hours = append(day.Hours, Hour{at(h), d.hour(h), len(day.Hours)%3 > 0})
	}
	for i := max(len(day.Hours)-2, 1); i < len(day.Hours); i++ {
		day.Hours[i].Minor = true // a small page has no room for them beside the end
	}
	end := d.hour(to)
	if to.Hour() == 0 && !d.v.Look.Twelve {
		end = "24:00"
	}
	day.Hours = append(day.Hours, Hour{at(to), end, false})
	return day
}

// hour is the text of a mark.
func (d door) hour(at time.Time) string {
	if d.v.Look.Twelve {
		return at.Format("3 PM")
	}
	return at.Format("15:04")
}

// span is from when until when the bar goes: office hours, and whole hours around
// what is booked and now.
func (d door) span() (from, to time.Time) {
	now := d.v.Now
	y, m, dd := now.Date()
	hour := func(h int) time.Time { return time.Date(y, m, dd, h, 0, 0, 0, now.Location()) }
	midnight, end := hour(0), time.Date(y, m, dd+1, 0, 0, 0, 0, now.Location())
	from, to = hour(dayBegins), hour(dayEnds)
	cover := func(start, stop time.Time) {
		for from.After(start) && from.After(midnight) {
			from = from.Add(-time.Hour)
		}
		for to.Before(stop) && to.Before(end) {
			to = to.Add(time.Hour)
		}
	}
	cover(now, now.Add(time.Minute))
	for _, b := range d.v.Today {
		cover(b.Start, b.End)
	}
	return from, to
}
