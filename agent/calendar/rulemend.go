package calendar

import (
	"time"

	"github.com/teambition/rrule-go"
)

// mend says the rule in a way in which the library works it out as RFC 5545
// means it.
func (r *rule) mend(start moment) {
	o := &r.option
	if start.date { // there these parts have no meaning (3.3.10)
		o.Byhour, o.Byminute, o.Bysecond = nil, nil, nil
	}
	if o.Freq == rrule.YEARLY && len(o.Byweekno) > 0 && len(o.Byweekday)+len(o.Bymonthday)+len(o.Byyearday) == 0 {
		o.Byweekday = []rrule.Weekday{weekdayOf(start.wall)} // the library takes the whole week
	}
	if o.Freq == rrule.MONTHLY || o.Freq == rrule.YEARLY {
		r.mendDays()
	}
	if o.Freq == rrule.WEEKLY && len(o.Bysetpos) > 0 {
		// Positions count in the whole week, also in that of the start; the
		// library counts from the start on.
		if len(o.Byweekday)+len(o.Bymonthday)+len(o.Byyearday) == 0 {
			o.Byweekday = []rrule.Weekday{weekdayOf(start.wall)}
		}
		first := weekdayOf(start.wall)
		o.Dtstart = o.Dtstart.AddDate(0, 0, -(first.Day()-o.Wkst.Day()+7)%7)
	}
}

// mendDays names each Monday of "MO,2TU" by its number: where some days have
// one, the library takes only days that are in both kinds.
func (r *rule) mendDays() {
	o := &r.option
	most := 5 // in a month
	if o.Freq == rrule.YEARLY && len(o.Bymonth) == 0 {
		most = 53
	}
	var plain, numbered []rrule.Weekday
	for _, d := range o.Byweekday {
		if d.N() == 0 {
			plain = append(plain, d)
		} else {
			numbered = append(numbered, d)
		}
	}
	if len(plain) == 0 || len(numbered) == 0 {
		return
	}
	for _, d := range plain {
		for n := 1; n <= most; n++ {
			numbered = append(numbered, d.Nth(n))
		}
	}
	o.Byweekday = numbered
}

// weekdayOf is the day of the week as rules name it.
func weekdayOf(t time.Time) rrule.Weekday {
	return []rrule.Weekday{rrule.SU, rrule.MO, rrule.TU, rrule.WE, rrule.TH, rrule.FR, rrule.SA}[t.Weekday()]
}
