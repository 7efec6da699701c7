package calendar

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// anothersRules are rules with what rrule-temporal for JavaScript makes of them,
// which shares no code and no ancestor with our library; it and ical.js agree on
// those of months. TestAnotherReadsTheSame asks it again.
var anothersRules = []struct{ start, rule, want string }{
	{"20260107T103000", "FREQ=WEEKLY;BYDAY=MO,WE,FR;BYSETPOS=1", "20260112T103000 20260119T103000 20260126T103000 20260202T103000"},
	{"20260107T103000", "FREQ=WEEKLY;BYDAY=MO,WE,FR;BYSETPOS=-1", "20260109T103000 20260116T103000 20260123T103000 20260130T103000"},
	{"20260107T103000", "FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=SU,TU,SA;BYSETPOS=2", "20260120T103000 20260203T103000 20260217T103000 20260303T103000"},
	{"20260107T090000", "FREQ=WEEKLY;INTERVAL=3;BYSETPOS=1", "20260107T090000 20260128T090000 20260218T090000 20260311T090000"},
	{"20260106T090000", "FREQ=WEEKLY;BYDAY=MO,TU;BYHOUR=8,17;BYSETPOS=-1", "20260106T170000 20260113T170000 20260120T170000 20260127T170000"},
	{"20260106T090000", "FREQ=MONTHLY;BYDAY=MO,2TU", "20260112T090000 20260113T090000 20260119T090000 20260126T090000 20260202T090000 20260209T090000 20260210T090000"},
	{"20260106T090000", "FREQ=MONTHLY;BYDAY=MO,2TU;BYSETPOS=2", "20260112T090000 20260209T090000 20260309T090000 20260413T090000"},
	{"20260106T090000", "FREQ=YEARLY;BYMONTH=1,2;BYDAY=-1FR,WE", "20260107T090000 20260114T090000 20260121T090000 20260128T090000 20260130T090000 20260204T090000"},
	{"20260103T090000", "FREQ=YEARLY;BYDAY=20MO,-1SU", "20260518T090000 20261227T090000 20270517T090000 20271226T090000"},
	{"20260514T090000", "FREQ=YEARLY;BYWEEKNO=20", "20260514T090000 20270520T090000 20280518T090000 20290517T090000"},
	{"20260101T090000", "FREQ=YEARLY;BYWEEKNO=1,53", "20260101T090000 20261231T090000 20270107T090000 20280106T090000 20290104T090000"},
	{"20260104T090000", "FREQ=YEARLY;BYWEEKNO=20;WKST=SU", "20260517T090000 20270516T090000 20280514T090000 20290513T090000"},
	{"20260106", "FREQ=DAILY;BYHOUR=9,10", "20260106 20260107 20260108 20260109"},
	{"20260106", "FREQ=WEEKLY;BYDAY=TU,TH;BYHOUR=9;BYMINUTE=30", "20260106 20260108 20260113 20260115"},
	{"20260106T090000", "FREQ=MONTHLY; BYDAY=MO, 2TU ;COUNT = 2", "20260112T090000"}, // beside the start
}

// TestRulesAsAnotherReadsThem compares with that.
func TestRulesAsAnotherReadsThem(t *testing.T) {
	for _, c := range anothersRules {
		start, err := parseMoment(c.start, utc, utc)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Fields(c.want)
		if want[0] != c.start { // the start belongs to the series in any case
			want = append([]string{c.start}, want...)
		}
		for _, rule := range []string{c.rule, strings.ReplaceAll(c.rule, ",", ", ")} {
			var e expander
			walls, err := e.walls(rule, start, january, onDay("2036-01-01"))
			var got []string
			for _, w := range walls[:min(len(walls), len(want))] {
				got = append(got, w.Format("20060102T150405")[:len(c.start)])
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s from %s: %v\ngot  %v\nwant %v", rule, c.start, err, got, want)
			}
		}
	}
}

// TestTimesWithoutAZone: beside a start that has one they are of that zone.
func TestTimesWithoutAZone(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for start, want := range map[string]string{
		"DTSTART;TZID=America/New_York:20260113T100000": "15:00 16:00, 15:00 16:00",
		"DTSTART:20260113T100000Z":                      "10:00 11:00, 10:00 11:00",
		"DTSTART:20260113T100000":                       "09:00 10:00, 09:00 10:00",
	} {
		body := calendarOf(eventOf("EXDATE:20260114T100000", "DTEND:20260113T110000", "UID:1", start, "RRULE:FREQ=DAILY;COUNT=2", "RDATE:20260120T100000"))
		got, problems, err := readCalendar(strings.NewReader(body), berlin, january, february)
		var times []string
		for _, o := range got {
			times = append(times, o.Start.Format("15:04 ")+o.End.Format("15:04"))
		}
		if err != nil || len(problems) > 0 || strings.Join(times, ", ") != want {
			t.Errorf("%s: %v, want %s, %v, %v", start, times, want, problems, err)
		}
	}
}
