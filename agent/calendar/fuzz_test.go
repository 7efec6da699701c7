package calendar

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"roomgate/agent/goldentest"
)

// FuzzParse: whatever the bytes, Parse returns in bounded time with
// occurrences that touch the window, in order, or with an error.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.ics")
	if err != nil || len(files) == 0 {
		f.Fatal("no test calendars", err)
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	for _, rule := range []string{"FREQ=MONTHLY;BYDAY=-1FR;BYSETPOS=-1", "FREQ=YEARLY;BYWEEKNO=53,-53;BYDAY=MO;WKST=SU", "FREQ=YEARLY;BYDAY=53MO,-53SU"} {
		f.Add([]byte(calendarOf(customZone, eventOf("UID:1", "DTSTART;TZID=\"tzone://Microsoft/Custom\":20200105T100000", "DURATION:PT1H", "RRULE:"+rule,
			"EXDATE:20260105T080000Z", "RDATE;VALUE=PERIOD:20260106T080000Z/P1D"), eventOf("UID:1", "RECURRENCE-ID;RANGE=THISANDFUTURE:20260201T080000Z", "DTSTART:20260202", "DTEND:20260204"))))
	}
	berlin := mustZone(f, "Europe/Berlin")
	from, to := onDay("2026-01-01"), onDay("2027-01-01")
	f.Fuzz(func(t *testing.T, body []byte) {
		got, problems, err := readCalendar(bytes.NewReader(body), berlin, from, to)
		if err != nil {
			if got != nil || problems != nil {
				t.Fatal("an error and a result")
			}
			return
		}
		if len(problems) > maxProblems+1 || len(got) > maxOccurrences {
			t.Fatal(len(problems), "problems", len(got), "occurrences")
		}
		last := time.Time{}
		for _, o := range got {
			goldentest.Values(t, "an occurrence", goldentest.Pairs{"touches": {touches(o.Start, o.End, from, to), true},
				"Start.Before(last)": {o.Start.Before(last), false}, "no UID": {o.UID == "", false},
				"Sequence < 0": {o.Sequence < 0, false}, "Start.Location": {o.Start.Location(), time.UTC},
				"len(o.Title) > maxTitle":  {len(o.Title) > maxTitle, false},
				`ToValidUTF8(o.Title, "")`: {strings.ToValidUTF8(o.Title, ""), o.Title}})
			last = o.Start
		}
	})
}

// FuzzRule looks behind the net that keeps a panic of the library from
// spreading: readRule must refuse what would cause one.
func FuzzRule(f *testing.F) {
	for _, rule := range []string{
		"FREQ=DAILY;COUNT=3", "FREQ=MONTHLY;BYDAY=-5FR,5MO;BYSETPOS=-1,366", "FREQ=YEARLY;BYWEEKNO=53,-53,1,-1;BYDAY=MO;WKST=SU",
		"FREQ=YEARLY;BYDAY=53MO,-53SU", "FREQ=YEARLY;BYYEARDAY=366,-366;BYHOUR=0,23", "FREQ=WEEKLY;BYDAY=9MO;BYSETPOS=-7;INTERVAL=9999",
		"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=-31;UNTIL=20270101", "FREQ=MONTHLY;BYDAY=MO,2TU;BYMONTHDAY=31;BYMONTH=12",
	} {
		f.Add(rule, int64(1767607200))
		f.Add(rule, int64(-60000000000))
	}
	f.Fuzz(func(t *testing.T, text string, start int64) {
		wall := time.Unix(start%250_000_000_000, 0).UTC()
		if wall.Year() < 1 || wall.Year() > 9999 {
			return
		}
		e := expander{}
		walls, err := e.walls(text, moment{wall: wall, zone: utc}, onDay("2026-01-01"), onDay("2027-01-01"))
		if err != nil && strings.Contains(err.Error(), "cannot be worked out") {
			t.Fatal(err)
		}
		for i, w := range walls {
			if i > 0 && !w.After(walls[i-1]) {
				t.Fatalf("%s: %v after %v", text, w, walls[i-1])
			}
		}
	})
}
