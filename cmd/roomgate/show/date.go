package show

import "time"

// Date is a day of the calendar.
type Date struct {
	year  int
	month time.Month
	day   int
}

// DateOf is the day on which a moment is in a zone.
func DateOf(t time.Time, zone *time.Location) Date {
	y, m, d := t.In(zone).Date()
	return Date{y, m, d}
}

// Add is the day so many days later.
func (d Date) Add(days int) Date {
	return DateOf(time.Date(d.year, d.month, d.day+days, 12, 0, 0, 0, time.UTC), time.UTC)
}

// quarter is what every change of clocks and every difference of zones of
// today is a multiple of.
const quarter = 15 * time.Minute

// Begins is the first moment of the day. In some zones it is not midnight, and
// in some midnight comes twice.
func (d Date) Begins(zone *time.Location) time.Time {
	t := time.Date(d.year, d.month, d.day, 0, 0, 0, 0, zone)
	for DateOf(t.Add(-quarter), zone) == d {
		t = t.Add(-quarter)
	}
	for i := 0; i < 8 && DateOf(t, zone) != d; i++ {
		t = t.Add(quarter)
	}
	return t
}

// Ends is the first moment of the next day.
func (d Date) Ends(zone *time.Location) time.Time { return d.Add(1).Begins(zone) }

// hour is a time of the day; where the clocks skip it, one beside it.
func (d Date) hour(hour int, zone *time.Location) time.Time {
	return time.Date(d.year, d.month, d.day, hour, 0, 0, 0, zone)
}

// String is the day for people, as Mon 23 Nov 2026.
func (d Date) String() string {
	return time.Date(d.year, d.month, d.day, 0, 0, 0, 0, time.UTC).Format("Mon 2 Jan 2006")
}
