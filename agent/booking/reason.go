package booking

import (
	"regexp"
	"time"
)

// written are the times and spans in a reason, as stamp and span write them. What
// is stored and sent is in UTC, so that both sides write the same.
var written = regexp.MustCompile(`(\d{4}-\d\d-\d\d) (\d\d:\d\d)(?: to (?:(\d{4}-\d\d-\d\d) )?(\d\d:\d\d))? UTC`)

// ReasonIn is the reason for people of that zone: its times are those that their
// clocks show, as "Mon 2 Mar 11:00 to 12:00".
func (b Booking) ReasonIn(zone *time.Location) string {
	return written.ReplaceAllStringFunc(b.Reason, func(s string) string {
		m := written.FindStringSubmatch(s)
		const layout = "2006-01-02 15:04"
		from, err := time.Parse(layout, m[1]+" "+m[2])
		if err != nil {
			return s
		}
		from = from.In(zone)
		said := from.Format("Mon 2 Jan 15:04")
		if m[4] == "" {
			return said
		}
		day := m[3]
		if day == "" {
			day = m[1]
		}
		until, err := time.Parse(layout, day+" "+m[4])
		if err != nil {
			return s
		}
		if until = until.In(zone); from.YearDay() == until.YearDay() && from.Year() == until.Year() {
			return said + " to " + until.Format("15:04")
		}
		return said + " to " + until.Format("Mon 2 Jan 15:04")
	})
}
