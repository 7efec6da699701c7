package calendar

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/teambition/rrule-go"
	"pgregory.net/rapid"
)

func TestWindowsZonesAreKnown(t *testing.T) {
	for _, table := range []map[string]string{windowsZones, displayZones} {
		for name, iana := range table {
			if loadZone(iana) == nil {
				t.Errorf("%s: %s is no zone", name, iana)
			}
			if name != strings.ToLower(name) {
				t.Errorf("%s: not lower case, so never found", name)
			}
		}
	}
}

func TestRulesRefused(t *testing.T) {
	tests := []struct{ rule, part string }{
		{"", "freq"},
		{"FREQ=SECONDLY", "secondly"},
		{"FREQ=MINUTELY", "minutely"},
		{"FREQ=DAILY;INTERVAL=0", "interval"},
		{"FREQ=DAILY;INTERVAL=9223372036854775807", "interval"},
		{"FREQ=DAILY;INTERVAL=-1", "interval"},
		{"FREQ=DAILY;COUNT=0", "count"},
		{"FREQ=DAILY;UNTIL=never", "until"},
		{"FREQ=DAILY;BYHOUR=0,1,2,3;BYMINUTE=0,1,2,3,4,5,6", "times a day"},
		{"FREQ=DAILY;BYMONTH=13", "bymonth"},
		{"FREQ=DAILY;BYEASTER=400", "byeaster"},
		{"FREQ=DAILY;SOMETHING=1", "SOMETHING"},
		{"FREQ=MONTHLY;BYDAY=53MO", "five"},
		{"FREQ=MONTHLY;BYDAY=-53MO", "five"},
		{"FREQ=YEARLY;BYMONTH=12;BYDAY=6SU", "five"},
		{"FREQ=MONTHLY;RSCALE=CHINESE", "rscale"},
		{"FREQ=YEARLY;BYYEARDAY=" + strings.Repeat("1,", 400) + "1", "longer"},
	}
	for _, tt := range tests {
		e := expander{}
		start := moment{wall: at("2026-01-05T10:00"), zone: utc}
		_, err := e.walls(tt.rule, start, onDay("2026-01-01"), onDay("2027-01-01"))
		if err == nil || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(tt.part)) {
			t.Errorf("%s: got %v, want %q", clip(tt.rule), err, tt.part)
		}
	}
}

// TestWorkIsBounded: a rule that yields nothing uses the budget up, and then no
// further rule is begun; what is known without a rule stays.
func TestWorkIsBounded(t *testing.T) {
	const nothing = "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30"
	e := expander{work: maxWork - 1000}
	start := moment{wall: at("2026-01-05T10:00"), zone: utc}
	if walls, err := e.walls("FREQ=DAILY;COUNT=3", start, january, february); err != nil || len(walls) != 3 {
		t.Fatal(walls, err)
	}
	if _, err := e.walls(nothing, start, january, february); !errors.Is(err, errWork) {
		t.Fatal(err)
	}
	began := e.work
	if _, err := e.walls("FREQ=DAILY;COUNT=3", start, january, february); !errors.Is(err, errWork) || e.work != began {
		t.Fatal(err, e.work-began)
	}

	x := &expansion{expander: e, from: january, to: february, said: &problems{}}
	x.run(&series{master: &event{uid: "1", start: start, length: length{rest: time.Hour}, rules: []string{nothing}}})
	if len(x.found) != 1 || !x.said.unread["1"] {
		t.Errorf("%d occurrences, not whole: %v", len(x.found), x.said.unread)
	}
	wantProblems(t, x.said.list(), []string{"event \"1\": rrule: the rules of this calendar take too long to work out; only the first occurrence counts"})
}

func TestProblemsAreBounded(t *testing.T) {
	var parts []string
	for i := range 200 {
		parts = append(parts, eventOf(fmt.Sprintf("UID:%d", i), "DTSTART:never"))
	}
	_, problems, err := readCalendar(strings.NewReader(calendarOf(parts...)), nil, january, february)
	if err != nil || len(problems) != maxProblems+1 || problems[maxProblems] != "and 150 more" {
		t.Errorf("%q, %v", problems, err)
	}
}

func TestNumbersAreBounded(t *testing.T) {
	const times = "DTSTART:20260105T100000Z\nDURATION:PT1H"
	var parts []string
	for i := range maxZones + 5 {
		parts = append(parts, eventOf("UID:a", fmt.Sprintf("DTSTART;TZID=Zone %d:20260105T100000", i), "DURATION:PT1H"))
	}
	dates := strings.Repeat("EXDATE:"+strings.Repeat("20200101,", 1000)+"\n", 6)
	parts = append(parts, eventOf("UID:rules", times, strings.Repeat("RRULE:FREQ=WEEKLY\n", maxRules+1)), eventOf("UID:dates", times, dates))
	for i := range maxAllDates / maxDates {
		parts = append(parts, eventOf(fmt.Sprintf("UID:all%d", i), times, strings.TrimSuffix(dates, "\n")))
	}
	var said problems
	names := &zones{fallback: utc, known: map[string]zone{}, problem: func(string) {}}
	r := &reader{zones: names, said: &said}
	err := scan([]byte(calendarOf(parts...)), "VEVENT", said.add, func(b *block) error {
		if r.event(b) == nil {
			t.Error("an event was lost")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(said.list(), "\n")
	for _, part := range []string{"rrule: more than 10", "exdate: more than 5000 dates\n", "exdate: more than 200000 dates in the calendar"} {
		if !strings.Contains(all, part) {
			t.Errorf("%q is not in %s", part, all)
		}
	}
	if len(names.known) != maxZones {
		t.Errorf("%d zone names", len(names.known))
	}
}

// TestNestingIsFlat gives what would make a recursive parser use up its stack,
// and parameters that would cost quadratic time.
func TestNestingIsFlat(t *testing.T) {
	deep := strings.Repeat("BEGIN:X\n", 50_000)
	wide := "DTSTART" + strings.Repeat(";A=1", 16_000) + ":20260105T100000Z"
	body := calendarOf("BEGIN:VEVENT\nUID:1\nDTSTART:20260105T100000Z\nDURATION:PT1H\n"+deep+"END:VEVENT",
		eventOf("UID:2", wide, "DURATION:PT1H"), eventOf("UID:3", "DTSTART:"+strings.Repeat("1", maxLine+1)))
	got, problems, err := readCalendar(strings.NewReader(body), nil, onDay("2026-01-01"), onDay("2027-01-01"))
	if err != nil || len(got) != 1 {
		t.Fatal(len(got), problems, err)
	}
	wantProblems(t, problems, []string{"too many parameters", "longer than"})
}

// TestForwardChangesNothing compares rules that begin long ago with the
// library walking all the way.
func TestForwardChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawRule(t)
		start := time.Date(rapid.IntRange(1990, 2024).Draw(t, "year"), time.Month(rapid.IntRange(1, 12).Draw(t, "month")),
			rapid.IntRange(1, 31).Draw(t, "day"), rapid.IntRange(0, 23).Draw(t, "hour"), 30, 0, 0, time.UTC)
		lower := onDay("2026-01-01").AddDate(0, 0, rapid.IntRange(0, 400).Draw(t, "lower"))
		upper := lower.AddDate(0, 0, rapid.IntRange(1, 800).Draw(t, "window"))
		e := expander{}
		got, err := e.walls(text, moment{wall: start, zone: utc}, lower, upper)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		option, err := rrule.StrToROption(text)
		if err != nil {
			t.Fatal(err)
		}
		option.Dtstart = start
		if strings.Contains(text, "BYWEEKNO") { // see TestRulesAsAnotherReadsThem
			option.Byweekday = []rrule.Weekday{weekdayOf(start)}
		}
		whole, err := rrule.NewRRule(*option)
		if err != nil {
			t.Fatal(err)
		}
		want := whole.Between(lower, upper, true)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%s from %v:\ngot  %v\nwant %v", text, start, got, want)
		}
	})
}

// TestForwardKeepsWholeWeeks: "the first of Monday, Wednesday and Friday" is
// never a Wednesday, though the series began on a Tuesday.
func TestForwardKeepsWholeWeeks(t *testing.T) {
	e := expander{}
	start := moment{wall: at("2025-01-07T10:30"), zone: utc}
	got, err := e.walls("FREQ=WEEKLY;BYDAY=MO,WE,FR;BYSETPOS=1", start, onDay("2026-01-07"), onDay("2026-01-14"))
	if err != nil || len(got) != 1 || got[0] != at("2026-01-12T10:30") {
		t.Error(got, err)
	}
}

func drawRule(t *rapid.T) string {
	freq := rapid.SampledFrom([]string{"DAILY", "WEEKLY", "MONTHLY", "YEARLY"}).Draw(t, "freq")
	text := fmt.Sprintf("FREQ=%s;INTERVAL=%d", freq, rapid.IntRange(1, 5).Draw(t, "interval"))
	if rapid.Bool().Draw(t, "wkst") {
		text += ";WKST=SU"
	}
	extra := rapid.SampledFrom([]string{"", ";BYDAY=MO,TH", ";BYDAY=MO,TU,WE;BYSETPOS=-1", ";BYDAY=MO,WE,FR;BYSETPOS=1", ";BYMONTHDAY=1,-1", ";BYMONTH=1,6", ";BYHOUR=8,9"}).Draw(t, "extra")
	if freq == "MONTHLY" {
		extra = rapid.SampledFrom([]string{extra, ";BYDAY=2MO,-1FR"}).Draw(t, "nth")
	}
	if freq == "YEARLY" {
		extra = rapid.SampledFrom([]string{extra, ";BYWEEKNO=1,53", ";BYYEARDAY=-1,366"}).Draw(t, "week")
	}
	return text + extra
}

// TestInstantOfWallClock: every instant's wall clock leads back to it, or to
// the first of two.
func TestInstantOfWallClock(t *testing.T) {
	names := []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Pacific/Apia", "Asia/Kathmandu", "America/St_Johns"}
	rapid.Check(t, func(t *rapid.T) {
		z := namedZone(rapid.SampledFrom(names).Draw(t, "zone"))
		when := onDay("2005-01-01").Add(time.Duration(rapid.Int64Range(0, 30*366*24*60).Draw(t, "minute")) * time.Minute)
		wall := wallClock(z, when)
		back := instant(z, wall)
		if back.After(when) || !wallClock(z, back).Equal(wall) {
			t.Fatalf("%v is %v, which is %v", when, wall, back)
		}
	})
}

// tenThousand is a year of a busy house: single meetings, and one series in ten.
func tenThousand() string {
	var b strings.Builder
	b.WriteString("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n")
	day := onDay("2026-01-01")
	for i := range 10_000 {
		start := day.Add(time.Duration(i) * 50 * time.Minute)
		fmt.Fprintf(&b, "BEGIN:VEVENT\r\nUID:%d@example.org\r\nDTSTAMP:20260101T000000Z\r\nDTSTART;TZID=W. Europe Standard Time:%s\r\nDTEND;TZID=W. Europe Standard Time:%s\r\n",
			i, start.Format("20060102T150405"), start.Add(45*time.Minute).Format("20060102T150405"))
		if i%10 == 0 {
			b.WriteString("RRULE:FREQ=WEEKLY;COUNT=4\r\n")
		}
		fmt.Fprintf(&b, "SUMMARY:Meeting %d\r\nORGANIZER;CN=\"Ada Kaya\":mailto:ada@example.org\r\nDESCRIPTION:%s\r\nEND:VEVENT\r\n", i, strings.Repeat("text of an invitation ", 20))
	}
	b.WriteString("END:VCALENDAR\r\n")
	return b.String()
}

func BenchmarkParse10000(b *testing.B) {
	body := tenThousand()
	zone := mustZone(b, "Europe/Berlin")
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		got, problems, err := readCalendar(strings.NewReader(body), zone, onDay("2026-01-01"), onDay("2027-01-01"))
		if err != nil || len(problems) > 0 || len(got) < 12_000 {
			b.Fatal(len(got), problems, err)
		}
	}
}
