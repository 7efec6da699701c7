package calendar

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/teambition/rrule-go"
)

const (
	maxInterval = 9999
	maxTimes    = 24         // occurrences of one rule on one day
	maxWork     = 30_000_000 // periods looked at in one calendar: about 1 s on a desktop core
	maxYear     = 9999       // where the library gives up on a rule that yields nothing
)

var errMany = errors.New("it yields too many occurrences")

var errWork = errors.New("the rules of this calendar take too long to work out")

// expander works recurrence rules out, with a budget: a rule such as "30th of
// February" makes the library walk every day up to the year 9999.
type expander struct {
	work int
}

// rule is an RRULE that has been found harmless.
type rule struct {
	option rrule.ROption
	count  int
	until  string
}

// walls lists the wall clocks of a series' original starts in [lower, upper],
// DTSTART included, in order. They are digits carried in UTC: a rule is about
// the wall clock, and the zone decides afterwards when that was.
func (e *expander) walls(text string, start moment, lower, upper time.Time) (walls []time.Time, err error) {
	defer func() {
		// The library indexes with numbers of the rule. readRule keeps those
		// in bounds; should one get through, it costs this event alone.
		if r := recover(); r != nil {
			walls, err = nil, fmt.Errorf("%q cannot be worked out", clip(text))
		}
	}()
	if e.work > maxWork {
		return nil, errWork
	}
	r, err := readRule(text)
	if err != nil {
		return nil, err
	}
	ended, err := r.ending(start)
	if err != nil {
		return nil, err
	}
	r.option.Dtstart = start.wall
	r.mend(start)
	forwarded := r.forward(lower)
	set, err := rrule.NewRRule(r.option)
	if err != nil {
		return nil, err
	}
	if ended(start.wall) {
		return nil, nil
	}
	count := 0
	take := func(wall time.Time) (more bool) {
		if wall.Before(start.wall) {
			return true // of the week in which the series begins
		}
		if count++; r.count > 0 && count > r.count || ended(wall) || wall.After(upper) {
			return false
		}
		if !wall.Before(lower) {
			walls = append(walls, wall)
		}
		return len(walls) <= maxOccurrences
	}
	if forwarded || take(start.wall) {
		err = e.run(set, start.wall, r, take)
	}
	if len(walls) > maxOccurrences {
		err = errMany
	}
	return walls, err
}

// run feeds take until it has enough, and charges the budget for the periods
// that the library looked at on the way.
func (e *expander) run(set *rrule.RRule, start time.Time, r rule, take func(time.Time) bool) error {
	next, from, weight := set.Iterator(), r.option.Dtstart, r.weight()
	for {
		wall, ok := next()
		reached := wall
		if !ok {
			reached = time.Date(maxYear, 12, 31, 0, 0, 0, 0, time.UTC)
		}
		days := int((reached.Unix() - from.Unix()) / 86400)
		e.work += (1 + days/r.option.Interval) * weight
		from = reached
		if e.work > maxWork {
			return errWork
		}
		if !ok || !wall.Equal(start) && !take(wall) {
			return nil
		}
	}
}

// readRule refuses what RFC 5545 does not know, and what would cost more than
// a room's calendar can be worth.
func readRule(text string) (rule, error) {
	var r rule
	parts := make([]string, 0, 8)
	frequency := ""
	for _, part := range strings.Split(strings.ToUpper(strings.TrimSpace(text)), ";") {
		key, value, _ := strings.Cut(strings.Join(strings.Fields(part), ""), "=") // some write "BYDAY=MO, TU"
		if key == "" || strings.HasPrefix(key, "X-") {
			continue
		}
		var err error
		switch key {
		case "UNTIL":
			r.until = value
			continue
		case "COUNT":
			r.count, err = atLeastOne(value, 1_000_000)
		case "INTERVAL":
			_, err = atLeastOne(value, maxInterval)
		case "FREQ":
			frequency = value
		case "RSCALE", "SKIP": // RFC 7529
			if value != "GREGORIAN" && value != "OMIT" {
				return r, fmt.Errorf("%s=%s is not supported", strings.ToLower(key), clip(value))
			}
			continue
		case "BYEASTER":
			return r, errors.New("byeaster is not iCalendar")
		}
		if err != nil {
			return r, fmt.Errorf("%s: %w", strings.ToLower(key), err)
		}
		if key != "COUNT" {
			parts = append(parts, key+"="+value)
		}
	}
	if !slices.Contains([]string{"DAILY", "WEEKLY", "MONTHLY", "YEARLY"}, frequency) {
		return r, fmt.Errorf("freq=%s is not supported; a room is used daily at most", strings.ToLower(clip(frequency)))
	}
	option, err := rrule.StrToROption(strings.Join(parts, ";"))
	if err != nil {
		return r, fmt.Errorf("%q is not a rule: %w", clip(text), err)
	}
	r.option = *option
	r.option.Interval = max(1, r.option.Interval)
	return r, r.check()
}

func atLeastOne(s string, most int) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("%q is not a number from 1 to %d", clip(s), most)
	}
	return n, nil
}

func (r *rule) lists() [][]int {
	o := &r.option
	return [][]int{o.Byhour, o.Byminute, o.Bysecond, o.Bymonth, o.Bymonthday, o.Byyearday, o.Byweekno, o.Bysetpos}
}

// weight is what one period costs: the library searches every list in it.
func (r *rule) weight() int {
	n := len(r.option.Byweekday)
	for _, list := range r.lists() {
		n += len(list)
	}
	return 1 + n/8
}

func (r *rule) check() error {
	o := &r.option
	for _, list := range r.lists() {
		if len(list) > 366 {
			return errors.New("a list in it is longer than 366 numbers")
		}
	}
	if max(1, len(o.Byhour))*max(1, len(o.Byminute))*max(1, len(o.Bysecond)) > maxTimes {
		return fmt.Errorf("more than %d times a day", maxTimes)
	}
	if len(o.Byweekday) > 366 {
		return errors.New("byday is longer than 366 days")
	}
	// The library looks for the 53rd Monday of a month behind the end of its table.
	byMonth := o.Freq == rrule.MONTHLY || o.Freq == rrule.YEARLY && len(o.Bymonth) > 0
	for _, d := range o.Byweekday {
		if byMonth && (d.N() > 5 || d.N() < -5) {
			return errors.New("byday: a month has at most five of a weekday")
		}
	}
	return nil
}

// ending makes the test for UNTIL, which is inclusive. A date means the whole
// day; a time without Z is the event's own.
func (r *rule) ending(start moment) (func(wall time.Time) bool, error) {
	if r.until == "" {
		return func(time.Time) bool { return false }, nil
	}
	until, err := parseMoment(r.until, start.zone, start.zone)
	if err != nil {
		return nil, fmt.Errorf("until: %w", err)
	}
	if until.date || until.zone == start.zone {
		last := until.wall
		if until.date {
			last = last.Add(day - time.Second)
		}
		return func(wall time.Time) bool { return wall.After(last) }, nil
	}
	last := until.instant()
	return func(wall time.Time) bool { return instant(start.zone, wall).After(last) }, nil
}

// forward moves the start of a rule without COUNT by whole intervals to
// shortly before lower, so that a daily meeting of ten years ago costs no more
// than a new one. It first writes out what the rule would take from its start.
func (r *rule) forward(lower time.Time) bool {
	o := &r.option
	d := o.Dtstart
	if r.count > 0 || !d.Before(lower) {
		return false
	}
	days := int((lower.Unix() - d.Unix()) / 86400)
	months := (lower.Year()-d.Year())*12 + int(lower.Month()-d.Month())
	// Two intervals of distance: the first period may be a part of one.
	steps := func(n int) int { return (n/o.Interval - 2) * o.Interval }
	var to time.Time
	switch o.Freq {
	case rrule.DAILY:
		to = d.AddDate(0, 0, steps(days))
	case rrule.WEEKLY:
		to = d.AddDate(0, 0, 7*steps(days/7))
	case rrule.MONTHLY:
		to = time.Date(d.Year(), d.Month()+time.Month(steps(months)), 1, d.Hour(), d.Minute(), d.Second(), 0, time.UTC)
	default:
		to = time.Date(d.Year()+steps(months/12), 1, 1, d.Hour(), d.Minute(), d.Second(), 0, time.UTC)
	}
	if !to.After(d) {
		return false
	}
	r.writeOut(d)
	o.Dtstart = to
	return true
}

// writeOut names the days that a rule without BY parts takes from its start
// (RFC 5545, 3.3.10).
func (r *rule) writeOut(d time.Time) {
	o := &r.option
	if len(o.Byweekno)+len(o.Byyearday)+len(o.Bymonthday)+len(o.Byweekday) > 0 {
		return
	}
	switch o.Freq {
	case rrule.YEARLY:
		if len(o.Bymonth) == 0 {
			o.Bymonth = []int{int(d.Month())}
		}
		o.Bymonthday = []int{d.Day()}
	case rrule.MONTHLY:
		o.Bymonthday = []int{d.Day()}
	case rrule.WEEKLY:
		o.Byweekday = []rrule.Weekday{weekdayOf(d)}
	}
}
