package main

import (
	"fmt"
	"strings"
	"time"
)

// roomClock is the clock on the wall of a meeting space: its zone, and what
// time the gateway says it is, which counts, not the clock of who asks.
type roomClock struct {
	zone *time.Location
	now  time.Time
}

// date is a day of the calendar.
type date struct {
	year  int
	month time.Month
	day   int
}

func dateOf(t time.Time, zone *time.Location) date {
	y, m, d := t.In(zone).Date()
	return date{y, m, d}
}

func (d date) add(days int) date {
	return dateOf(time.Date(d.year, d.month, d.day+days, 12, 0, 0, 0, time.UTC), time.UTC)
}

// quarter is what every change of clocks and every difference of zones of
// today is a multiple of.
const quarter = 15 * time.Minute

// begins is the first moment of the day. In some zones it is not midnight, and
// in some midnight comes twice.
func (d date) begins(zone *time.Location) time.Time {
	t := time.Date(d.year, d.month, d.day, 0, 0, 0, 0, zone)
	for dateOf(t.Add(-quarter), zone) == d {
		t = t.Add(-quarter)
	}
	for i := 0; i < 8 && dateOf(t, zone) != d; i++ {
		t = t.Add(quarter)
	}
	return t
}

// ends is the first moment of the next day.
func (d date) ends(zone *time.Location) time.Time { return d.add(1).begins(zone) }

// at is a time of the day; where the clocks skip it, one beside it.
func (d date) at(hour int, zone *time.Location) time.Time {
	return time.Date(d.year, d.month, d.day, hour, 0, 0, 0, zone)
}

// String is the day for people, as Mon 23 Nov 2026.
func (d date) String() string {
	return time.Date(d.year, d.month, d.day, 0, 0, 0, 0, time.UTC).Format("Mon 2 Jan 2006")
}

func (c roomClock) today() date { return dateOf(c.now, c.zone) }

// day reads what --day takes: today, tomorrow, yesterday, a day of the week,
// which is the next one from today on, or 2026-11-23. Empty is today.
func (c roomClock) day(word string) (date, error) {
	today := c.today()
	lower := strings.ToLower(strings.TrimSpace(word))
	switch lower {
	case "", "today":
		return today, nil
	case "tomorrow":
		return today.add(1), nil
	case "yesterday":
		return today.add(-1), nil
	}
	for ahead := range 7 {
		d := today.add(ahead)
		name := strings.ToLower(d.at(12, time.UTC).Weekday().String())
		if lower == name || lower == name[:3] {
			return d, nil
		}
	}
	t, err := time.Parse(time.DateOnly, lower)
	if err != nil {
		return date{}, fail(exitUsage, "%q is no day: want one as today, tomorrow, monday or 2026-11-23", word)
	}
	return dateOf(t, time.UTC), nil
}

// walls are the ways in which people write a time of the space's clock. The
// first two want a day beside them.
var walls = []string{"15:04", "15:04:05", "2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02 15:04:05"}

// at reads a time: 14:00 of that day, 2026-11-23T14:00, the same with an
// offset, now, or +30m from now. 24:00 is the end of the day.
func (c roomClock) at(word string, day date) (time.Time, error) {
	word = strings.TrimSpace(word)
	if strings.EqualFold(word, "now") {
		return c.now, nil
	}
	if after, ok := strings.CutPrefix(word, "+"); ok {
		length, err := parseLength(after)
		return c.now.Add(length), err
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00"} {
		if t, err := time.Parse(layout, strings.ToUpper(word)); err == nil {
			return t, nil
		}
	}
	if word == "24:00" {
		return day.ends(c.zone), nil
	}
	for i, layout := range walls {
		t, err := time.Parse(layout, word)
		if err != nil {
			continue
		}
		if i > 1 {
			day = dateOf(t, time.UTC)
		}
		return c.wall(day, t.Hour()*3600+t.Minute()*60+t.Second(), word)
	}
	return time.Time{}, fail(exitUsage, "%q is no time: want one as 14:00, 2026-11-23T14:00, +30m or now", word)
}

// wall finds the moment at which the space's clock shows a time of a day.
func (c roomClock) wall(day date, second int, word string) (time.Time, error) {
	found := c.moments(day, second)
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return time.Time{}, fail(exitUsage, "there is no %s on %s in %s: the clocks are put forward over it", word, day, c.zone)
	}
	const layout = "2006-01-02T15:04Z07:00"
	return time.Time{}, fail(exitUsage, "%s comes twice on %s in %s: say %s or %s", word, day, c.zone,
		found[0].Format(layout), found[1].Format(layout))
}

// moments are all at which the space's clock shows that second of the day:
// mostly one, none where it is put forward, two where it is put back.
func (c roomClock) moments(day date, second int) (found []time.Time) {
	naive := time.Date(day.year, day.month, day.day, 0, 0, second, 0, time.UTC)
	for _, near := range []time.Time{naive.Add(-26 * time.Hour), naive.Add(26 * time.Hour)} {
		_, offset := near.In(c.zone).Zone()
		t := naive.Add(time.Duration(-offset) * time.Second).In(c.zone)
		h, m, s := t.Clock()
		shown := h*3600+m*60+s == second && dateOf(t, c.zone) == day
		if shown && (len(found) == 0 || !found[0].Equal(t)) {
			found = append(found, t)
		}
	}
	return found
}

// parseLength reads how long something takes, as 30m, +30m or 1h30m.
func parseLength(word string) (time.Duration, error) {
	d, err := time.ParseDuration(strings.TrimPrefix(strings.TrimSpace(word), "+"))
	switch {
	case err != nil || strings.ContainsAny(word, "-"):
		return 0, fail(exitUsage, "%q is no length of time: want one as 30m or 1h30m", word)
	case d <= 0 || d%time.Minute != 0:
		return 0, fail(exitUsage, "%q is no length for a meeting: want whole minutes", word)
	case d > 366*24*time.Hour:
		return 0, fail(exitUsage, "%q is longer than a year", word)
	}
	return d, nil
}

// until reads an end: a time of that day, or how long it is from start.
func (c roomClock) until(word string, start time.Time, day date) (time.Time, error) {
	if isLength(word) {
		length, err := parseLength(word)
		return start.Add(length), err
	}
	return c.at(word, day)
}

// isLength tells 30m from 15:30.
func isLength(word string) bool {
	_, err := parseLength(word)
	return err == nil || strings.HasPrefix(word, "+")
}

// clock is a time as the space's clock shows it. Where it shows that time
// twice, the zone's abbreviation says which.
func (c roomClock) clock(t time.Time) string {
	local := t.In(c.zone)
	h, m, s := local.Clock()
	if len(c.moments(dateOf(t, c.zone), h*3600+m*60+s)) > 1 {
		return local.Format("15:04 MST")
	}
	return local.Format("15:04")
}

// say is a time with as much of its date as a person needs beside it, who
// knows that it is about the day.
func (c roomClock) say(t time.Time, about date) string {
	d := dateOf(t, c.zone)
	near := d.at(0, time.UTC).Sub(about.at(0, time.UTC)).Abs() < 7*24*time.Hour
	switch {
	case d == about:
		return c.clock(t)
	case near:
		return t.In(c.zone).Format("Mon ") + c.clock(t)
	case d.year == about.year:
		return t.In(c.zone).Format("Mon 2 Jan ") + c.clock(t)
	}
	return t.In(c.zone).Format("Mon 2 Jan 2006 ") + c.clock(t)
}

// span is an interval, which may begin and end on other days than the one it
// is about.
func (c roomClock) span(start, end time.Time, about date) string {
	day := dateOf(start, c.zone)
	last := c.say(end, day)
	if end.Equal(day.ends(c.zone)) {
		last = "24:00"
	}
	return fmt.Sprintf("%s-%s", c.say(start, about), last)
}

// fullSpan is an interval with its day.
func (c roomClock) fullSpan(start, end time.Time) string {
	d := dateOf(start, c.zone)
	return fmt.Sprintf("%s %s", d, c.span(start, end, d))
}
