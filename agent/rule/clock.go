package rule

import (
	"strconv"
	"strings"
	"time"

	"github.com/netresearch/go-cron"
)

// Times are the minutes of a trigger by time, in whatever zone.
type Times struct{ spec *cron.SpecSchedule }

// fields are those of crontab(5), where a day fits if either the day of the
// month or that of the week does, unless one of them is *.
var fields = cron.MustNewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.DowOrDom)

// star is how the parser marks a field that is *.
const star = 1 << 63

// ParseTime reads "07:30" or five fields of crontab(5): minute, hour, day of
// the month, month, day of the week.
func ParseTime(text string) (Times, error) {
	if hour, minute, ok := timeOfDay(text); ok {
		text = strconv.Itoa(minute) + " " + strconv.Itoa(hour) + " * * *"
	}
	if len(text) > 100 || len(strings.Fields(text)) != 5 || strings.ContainsAny(text, "=@#LWH?") {
		return Times{}, badTime("want a time of day as 07:30, or minute, hour, day, month and weekday as in crontab, 30 7 * * 1-5")
	}
	s, err := fields.Parse(text)
	if err != nil {
		return Times{}, badTime(firstLine(err))
	}
	spec, ok := s.(*cron.SpecSchedule)
	if !ok {
		return Times{}, badTime("want a time of day as 07:30")
	}
	t := Times{spec}
	if !t.ever() {
		return Times{}, badTime("there is no such day in any month")
	}
	return t, nil
}

func badTime(what string) error { return wrong("trigger.time", "is not understood: %s", what) }

func timeOfDay(text string) (hour, minute int, ok bool) {
	t, err := time.Parse("15:04", text)
	return t.Hour(), t.Minute(), err == nil && len(text) == 5
}

// ever says whether any day of a leap year fits.
func (t Times) ever() bool {
	for day := time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() == 2028; day = day.AddDate(0, 0, 1) {
		if t.day(day) {
			return true
		}
	}
	return false
}

// Match says whether a minute on the wall is one of them.
func (t Times) Match(wall time.Time) bool {
	return t.spec.Minute&(1<<wall.Minute()) != 0 && t.spec.Hour&(1<<wall.Hour()) != 0 && t.day(wall)
}

func (t Times) day(wall time.Time) bool {
	s := t.spec
	if s.Month&(1<<int(wall.Month())) == 0 {
		return false
	}
	date, weekday := s.Dom&(1<<wall.Day()) != 0, s.Dow&(1<<int(wall.Weekday())) != 0
	if s.Dom&star != 0 || s.Dow&star != 0 {
		return date && weekday
	}
	return date || weekday
}

// Walls are the minutes that the clocks of a zone show for the first time in
// the minute that begins at t, as times of UTC. Mostly it is one. When the
// clocks go forward it is also the ones that they leap over, so that nothing
// set for them is left out; when they go back it is none until they show
// something new, so that nothing happens twice.
func Walls(t time.Time, zone *time.Location) []time.Time {
	t = t.Truncate(time.Minute)
	now, before, long := offset(t, zone), offset(t.Add(-time.Minute), zone), offset(t.Add(-longestLeap), zone)
	wall := t.Add(now).UTC()
	if earlier := t.Add(now - long); now < long && offset(earlier, zone) == long {
		return nil
	}
	walls := []time.Time{}
	for leapt := wall.Add(before - now); leapt.Before(wall); leapt = leapt.Add(time.Minute) {
		walls = append(walls, leapt)
	}
	return append(walls, wall)
}

// longestLeap is more than clocks ever go back at once, but for whole days.
const longestLeap = 4 * time.Hour

// offset is how far a zone's clocks are ahead of UTC.
func offset(t time.Time, zone *time.Location) time.Duration {
	_, seconds := t.In(zone).Zone()
	return time.Duration(seconds) * time.Second
}
