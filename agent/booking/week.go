package booking

import (
	"fmt"
	"strings"
	"time"
)

// Week is when a space is open, by weekday; nil: always.
type Week map[time.Weekday]Hours

// Hours are one day's, in minutes of the local clock from midnight: open from
// From until before Until, which may be 1440.
type Hours struct{ From, Until int }

// ParseHours reads "08:00-18:30"; "24:00" is the end of the day, "closed" no
// hours at all.
func ParseHours(s string) (Hours, error) {
	if s == "closed" {
		return Hours{}, nil
	}
	from, until, ok := strings.Cut(s, "-")
	a, err1 := minutes(from)
	b, err2 := minutes(until)
	if !ok || err1 != nil || err2 != nil || a >= b {
		return Hours{}, fmt.Errorf("%q: want hours of one day like 08:00-18:30 or 00:00-24:00, or closed", s)
	}
	return Hours{a, b}, nil
}

func minutes(s string) (int, error) {
	s = strings.TrimSpace(s)
	if s == "24:00" {
		return 24 * 60, nil
	}
	t, err := time.Parse("15:04", s)
	return t.Hour()*60 + t.Minute(), err
}

// opening returns the opening of the local day that holds at, in UTC; ok is
// false on a day without.
func (w Week) opening(at time.Time, zone *time.Location) (from, until time.Time, ok bool) {
	y, m, d := at.In(zone).Date()
	h, ok := w[at.In(zone).Weekday()]
	if !ok || h.From >= h.Until {
		return from, until, false
	}
	return clockTime(y, m, d, h.From, zone), clockTime(y, m, d, h.Until, zone), true
}

// clockTime is when the clocks of a zone show that minute of a day: the first
// time if they show it twice, and the moment of the change if they skip it.
func clockTime(y int, m time.Month, d, minute int, zone *time.Location) time.Time {
	t := time.Date(y, m, d, 0, minute, 0, 0, zone)
	before, after := t.ZoneBounds()
	_, offset := t.Zone()
	shown := t.Add(time.Duration(offset) * time.Second) // as if it were UTC
	switch wanted := time.Date(y, m, d, 0, minute, 0, 0, time.UTC); {
	case shown.After(wanted):
		return before.UTC()
	case shown.Before(wanted):
		return after.UTC()
	case before.IsZero():
		return t.UTC()
	}
	_, old := before.Add(-1).Zone()
	if twin := t.Add(time.Duration(offset-old) * time.Second); twin.Before(before) {
		return twin.UTC()
	}
	return t.UTC()
}

// closed returns the first moment in [start, end) at which the space is not
// open.
func (w Week) closed(start, end time.Time, zone *time.Location) (time.Time, bool) {
	if len(w) == 0 {
		return time.Time{}, false
	}
	for at := start; at.Before(end); {
		from, until, ok := w.opening(at, zone)
		if !ok || at.Before(from) || !at.Before(until) {
			return at, true
		}
		at = until
	}
	return time.Time{}, false
}

// opens returns when the space is open next, from at on; within a week or not
// at all.
func (w Week) opens(at time.Time, zone *time.Location) (time.Time, bool) {
	if len(w) == 0 {
		return at, true
	}
	for day := range 8 {
		y, m, d := at.In(zone).Date()
		probe := at
		if day > 0 {
			probe = clockTime(y, m, d+day, 0, zone)
		}
		from, until, ok := w.opening(probe, zone)
		switch {
		case !ok || !probe.Before(until):
		case probe.Before(from):
			return from, true
		default:
			return probe, true
		}
	}
	return time.Time{}, false
}

// closes returns when the space closes, at being inside its hours; zero: never.
func (w Week) closes(at time.Time, zone *time.Location) time.Time {
	for at0 := at; len(w) > 0 && at.Sub(at0) < 8*24*time.Hour; {
		from, until, ok := w.opening(at, zone)
		if !ok || at.Before(from) || !at.Before(until) {
			return at
		}
		at = until
	}
	return time.Time{}
}

// sooner is the earlier one of two times of which zero is never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
