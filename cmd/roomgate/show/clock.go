package show

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Clock is the clock on the wall of a meeting space: its zone, and the time that
// the gateway says it is. That counts, not the clock of who asks.
type Clock struct {
	Zone *time.Location
	Now  time.Time
}

// Today is the day that it is there.
func (c Clock) Today() Date { return DateOf(c.Now, c.Zone) }

// Day reads what --day takes: today, tomorrow, yesterday, a day of the week,
// which is the next one from today on, or 2026-11-23. Empty is today.
func (c Clock) Day(word string) (Date, error) {
	today := c.Today()
	lower := strings.ToLower(strings.TrimSpace(word))
	switch lower {
	case "", "today":
		return today, nil
	case "tomorrow":
		return today.Add(1), nil
	case "yesterday":
		return today.Add(-1), nil
	}
	for ahead := range 7 {
		d := today.Add(ahead)
		name := strings.ToLower(d.hour(12, time.UTC).Weekday().String())
		if lower == name || lower == name[:3] {
			return d, nil
		}
	}
	t, err := time.Parse(time.DateOnly, lower)
	if err != nil {
		return Date{}, usage("%q is no day: want one as today, tomorrow, monday or 2026-11-23", word)
	}
	return DateOf(t, time.UTC), nil
}

// Minute is a moment on the clock, as 2026-11-23 14:05; of none a dash.
func (c Clock) Minute(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.In(c.Zone).Format("2006-01-02 15:04")
}

// Since reads the beginning of what is to be shown: -2h before now, a day as Day takes
// it, or a time as At does; 14:00 is the last one that there was.
func (c Clock) Since(word string) (time.Time, error) {
	if before, ok := strings.CutPrefix(strings.TrimSpace(word), "-"); ok {
		if days, err := strconv.Atoi(strings.TrimSuffix(before, "d")); err == nil && strings.HasSuffix(before, "d") {
			return c.Now.Add(-time.Duration(min(days, 36500)) * 24 * time.Hour), nil
		}
		length, err := ParseLength(before)
		return c.Now.Add(-length), err
	}
	if day, err := c.Day(word); err == nil {
		if c.Today().Begins(c.Zone).Before(day.Begins(c.Zone)) { // "friday" is the last one
			day = day.Add(-7)
		}
		return day.Begins(c.Zone), nil
	}
	t, err := c.At(word, c.Today())
	if err == nil && t.After(c.Now) && !strings.ContainsAny(word, "-") {
		t, err = c.At(word, c.Today().Add(-1))
	}
	if err != nil {
		return t, usage("%q is no time: want one as -2h, 14:00, yesterday, 2026-11-21 or 2026-11-21T08:00:00Z", word)
	}
	return t, nil
}

// walls are the ways in which people write a time of the space's clock. The
// first two want a day beside them.
var walls = []string{"15:04", "15:04:05", "2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02 15:04:05"}

// At reads a time: 14:00 of that day, 2026-11-23T14:00, the same with an
// offset, now, or +30m from now. 24:00 is the end of the day. A time that the
// clocks skip or show twice is a *UsageError, as is what cannot be read.
func (c Clock) At(word string, day Date) (time.Time, error) {
	word = strings.TrimSpace(word)
	if strings.EqualFold(word, "now") {
		return c.Now, nil
	}
	if after, ok := strings.CutPrefix(word, "+"); ok {
		length, err := ParseLength(after)
		return c.Now.Add(length), err
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00"} {
		if t, err := time.Parse(layout, strings.ToUpper(word)); err == nil {
			return t, nil
		}
	}
	if word == "24:00" {
		return day.Ends(c.Zone), nil
	}
	for i, layout := range walls {
		t, err := time.Parse(layout, word)
		if err != nil {
			continue
		}
		if i > 1 {
			day = DateOf(t, time.UTC)
		}
		return c.wall(day, t.Hour()*3600+t.Minute()*60+t.Second(), word)
	}
	if _, err := c.Day(word); err == nil {
		return time.Time{}, usage("%q is a day: want a time as 14:00, with the day beside it by --day where a command has that", word)
	}
	return time.Time{}, usage("%q is no time: want one as 14:00, 2026-11-23T14:00, +30m or now", word)
}

// wall finds the moment at which the space's clock shows a time of a day.
func (c Clock) wall(day Date, second int, word string) (time.Time, error) {
	found := c.moments(day, second)
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return time.Time{}, usage("there is no %s on %s in %s: the clocks are put forward over it", word, day, c.Zone)
	}
	const layout = "2006-01-02T15:04Z07:00"
	return time.Time{}, usage("%s comes twice on %s in %s: say %s or %s", word, day, c.Zone,
		found[0].Format(layout), found[1].Format(layout))
}

// moments are all at which the space's clock shows that second of the day:
// mostly one, none where it is put forward, two where it is put back.
func (c Clock) moments(day Date, second int) (found []time.Time) {
	naive := time.Date(day.year, day.month, day.day, 0, 0, second, 0, time.UTC)
	for _, near := range []time.Time{naive.Add(-26 * time.Hour), naive.Add(26 * time.Hour)} {
		_, offset := near.In(c.Zone).Zone()
		t := naive.Add(time.Duration(-offset) * time.Second).In(c.Zone)
		h, m, s := t.Clock()
		shown := h*3600+m*60+s == second && DateOf(t, c.Zone) == day
		if shown && (len(found) == 0 || !found[0].Equal(t)) {
			found = append(found, t)
		}
	}
	return found
}

// ParseLength reads how long something takes, as 30m, +30m or 1h30m: whole
// minutes, at most a year.
func ParseLength(word string) (time.Duration, error) {
	d, err := time.ParseDuration(strings.TrimPrefix(strings.TrimSpace(word), "+"))
	switch {
	case err != nil || strings.ContainsAny(word, "-"):
		return 0, usage("%q is no length of time: want one as 30m or 1h30m", word)
	case d <= 0 || d%time.Minute != 0:
		return 0, usage("%q is not a number of whole minutes: want one as 30m or 1h30m", word)
	case d > 366*24*time.Hour:
		return 0, usage("%q is longer than a year", word)
	}
	return d, nil
}

// Until reads an end: a time of that day, or how long it is from start.
func (c Clock) Until(word string, start time.Time, day Date) (time.Time, error) {
	if IsLength(word) {
		length, err := ParseLength(word)
		return start.Add(length), err
	}
	if _, err := strconv.Atoi(word); err == nil {
		return time.Time{}, usage("%q is neither a time nor a length: want a time as 14:00, or a length as 30m", word)
	}
	return c.At(word, day)
}

// IsLength tells 30m from 15:30.
func IsLength(word string) bool {
	_, err := ParseLength(word)
	return err == nil || strings.HasPrefix(word, "+")
}

// Time is a time as the space's clock shows it. Where it shows that time
// twice, the zone's abbreviation says which.
func (c Clock) Time(t time.Time) string {
	local := t.In(c.Zone)
	h, m, s := local.Clock()
	if len(c.moments(DateOf(t, c.Zone), h*3600+m*60+s)) > 1 {
		return local.Format("15:04 MST")
	}
	return local.Format("15:04")
}

// Say is a time with as much of its date as a person needs beside it, who
// knows that it is about the day.
func (c Clock) Say(t time.Time, about Date) string {
	d := DateOf(t, c.Zone)
	near := d.hour(0, time.UTC).Sub(about.hour(0, time.UTC)).Abs() < 7*24*time.Hour
	switch {
	case d == about:
		return c.Time(t)
	case near:
		return t.In(c.Zone).Format("Mon ") + c.Time(t)
	case d.year == about.year:
		return t.In(c.Zone).Format("Mon 2 Jan ") + c.Time(t)
	}
	return t.In(c.Zone).Format("Mon 2 Jan 2006 ") + c.Time(t)
}

// Span is an interval, which may begin and end on other days than the one it
// is about.
func (c Clock) Span(start, end time.Time, about Date) string {
	day := DateOf(start, c.Zone)
	last := c.Say(end, day)
	if end.Equal(day.Ends(c.Zone)) {
		last = "24:00"
	}
	return fmt.Sprintf("%s-%s", c.Say(start, about), last)
}

// FullSpan is an interval with its day.
func (c Clock) FullSpan(start, end time.Time) string {
	d := DateOf(start, c.Zone)
	return fmt.Sprintf("%s %s", d, c.Span(start, end, d))
}

// stamps are times as the gateway writes them in messages.
var stamps = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z`)

// Local writes the times in a message as the room's clock shows them.
func (c Clock) Local(message string) string {
	return stamps.ReplaceAllStringFunc(message, func(s string) string {
		t, err := c.At(s, c.Today())
		if err != nil {
			return s
		}
		return c.Say(t, c.Today())
	})
}

// FromTo is an interval in a sentence.
func (c Clock) FromTo(start, end time.Time, about Date) string {
	return c.Say(start, about) + " to " + c.Say(end, DateOf(start, c.Zone))
}

// OnGrid is the next moment from t on at which the local clock is on the grid.
func (c Clock) OnGrid(t time.Time, grid time.Duration) time.Time {
	local := t.In(c.Zone)
	past := time.Duration(local.Hour())*time.Hour + pastHour(t, c.Zone)
	if grid <= 0 || past%grid == 0 {
		return t
	}
	return t.Add(grid - past%grid)
}

// Moved is an interval at the same time of another day, and as long.
func (c Clock) Moved(start, end time.Time, to Date) (time.Time, time.Time, error) {
	h, m, s := start.In(c.Zone).Clock()
	from, err := c.wall(to, h*3600+m*60+s, c.Time(start))
	return from, from.Add(end.Sub(start)), err
}
