package calendar

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func mustZone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func at(s string) time.Time {
	v, err := time.Parse("2006-01-02T15:04", s)
	if err != nil {
		panic(err)
	}
	return v
}

func onDay(s string) time.Time { return at(s + "T00:00") }

// brief is an occurrence on one line: start, end, original start if it was
// another, title.
func brief(list []Occurrence) []string {
	out := []string{}
	for _, o := range list {
		s := o.Start.Format("2006-01-02T15:04") + "-" + o.End.Format("02T15:04")
		if !o.Recurrence.IsZero() && !o.Recurrence.Equal(o.Start) {
			s += " (" + o.Recurrence.Format("02T15:04") + ")"
		}
		if o.AllDay {
			s += " all day"
		}
		out = append(out, s+" "+o.Title)
	}
	return out
}

// realCalendars are calendars of other projects (testdata/README.md); what is
// expected was worked out by hand from the file and RFC 5545, and
// TestAnotherReadsTheSame compares it with another program.
var realCalendars = []struct {
	file, zone, from, to string
	want                 []string
	problems             []string // a part of each
}{
	{file: "apple-status.ics", zone: "America/Vancouver", from: "2022-07-01", to: "2022-08-01", want: []string{
		"2022-07-04T23:00-04T23:50 Tentative",
		"2022-07-05T16:00-05T17:00 Confirmed",
		"2022-07-07T16:00-07T17:00 No Status",
	}},
	// 2 Nov 2020: the defined zone leaves daylight time on the 1st, so 10:35 is 15:35Z instead of 14:35Z.
	{file: "exchange-customized-zone.ics", zone: "Europe/Berlin", from: "2020-10-26", to: "2020-11-08", want: []string{
		"2020-10-27T14:35-27T15:50 [private]",
		"2020-10-29T14:35-29T15:50 [private]",
		"2020-11-03T15:35-03T16:50 [private]",
		"2020-11-05T15:35-05T16:50 [private]",
	}},
	// UNTIL=20201217T153500Z is inclusive.
	{file: "exchange-customized-zone.ics", zone: "Europe/Berlin", from: "2020-12-14", to: "2021-03-01", want: []string{
		"2020-12-15T15:35-15T16:50 [private]",
		"2020-12-17T15:35-17T16:50 [private]",
	}},
	{file: "exchange-moved-allday.ics", zone: "Europe/Berlin", from: "2026-01-01", to: "2027-01-01", want: []string{}},
	// Mondays and Thursdays of every second week from that of 12 Feb, Sunday first: of 2-8 and 16-22 July
	// and 30 July. 6, 17 and 20 July and 3 August are excepted; that list is folded within a date.
	{file: "google-exdates.ics", zone: "Europe/Kiev", from: "2017-06-30", to: "2017-08-13", want: []string{
		"2017-07-03T14:00-04T00:00 Example of comma-separated exdates",
		"2017-07-31T14:00-01T00:00 Example of comma-separated exdates",
	}},
	{file: "google-moved.ics", zone: "America/Denver", from: "2026-02-01", to: "2026-03-01", want: []string{
		"2026-02-10T17:00-10T17:30 TEST RECURR 3",
		"2026-02-11T17:30-11T18:00 (11T17:00) TEST RECURR 3 - MODIFIED",
		"2026-02-12T17:00-12T17:30 TEST RECURR 3",
	}},
	{file: "google-folded.ics", zone: "Europe/Berlin", from: "2024-09-29", to: "2024-09-30", want: []string{
		"2024-09-29T12:45-29T13:45 Test Event",
	}},
	{file: "google-attendees.ics", zone: "Europe/Berlin", from: "2022-03-01", to: "2022-03-02", want: []string{
		"2022-03-01T17:00-01T18:30 xxxxxxxxxxxxxxxx xxxxxxxx",
	}},
	// A day in Los Angeles in winter is 08:00Z to 08:00Z; RDATE:20131210Z is a date with a stray Z.
	{file: "google-birthday.ics", zone: "America/Los_Angeles", from: "2013-01-01", to: "2016-01-01", want: []string{
		"2013-12-10T08:00-11T08:00 all day PErson #2's birthday",
		"2013-12-10T08:00-11T08:00 all day PErson #2's birthday",
		"2014-12-10T08:00-11T08:00 all day PErson #2's birthday",
		"2014-12-10T08:00-11T08:00 all day PErson #2's birthday",
	}},
	// Floating and all-day times are Copenhagen's, since that is the room's zone.
	{file: "davx5-times.ics", zone: "Europe/Copenhagen", from: "1998-01-01", to: "2023-01-01", want: []string{
		"1998-01-18T22:00-19T22:00 Form #1",
		"2021-05-26T22:00-27T22:00 all day Unknown UTC date",
		"2021-06-26T22:00-27T22:00 all day Unknown local date, with 'VALUE'",
		"2021-12-07T13:00-07T14:00 Form 3",
		"2022-01-22T17:00-22T20:00 Form #2",
	}},
	// 15 Oct 1985: daylight time to the last Sunday, by the first pair of rules.
	{file: "multi-era-zone.ics", zone: "UTC", from: "1985-01-01", to: "2026-01-01", want: []string{
		"1985-10-15T18:00-15T19:00 Event in 1985 (old rule)",
		"2025-06-10T18:00-10T19:00 Event in 2025 (modern rule)",
	}},
	{file: "outlook-brasilia.ics", zone: "UTC", from: "2017-01-01", to: "2018-01-01", want: []string{
		"2017-05-11T16:30-11T17:00 ",
	}},
	// Sydney is at +11 in October; New York leaves daylight time on 1 Nov 2020.
	// The series' DTSTART is a Monday that its rule (TH, FR) does not yield.
	{file: "owa-display-names.ics", zone: "UTC", from: "2020-10-01", to: "2020-11-07", want: []string{
		"2020-10-28T02:30-28T04:00 TEST Syd",
		"2020-10-28T17:30-28T19:00 TEST",
		"2020-11-02T18:30-02T20:00 TEST 3",
		"2020-11-02T18:30-02T20:00 TEST2",
		"2020-11-05T18:30-05T20:00 TEST2",
		"2020-11-06T18:30-06T20:00 TEST2",
	}},
	// Starts in New York at 12:00, ends in Los Angeles at 13:00: four hours. The EXDATEs name 12:00 in Los Angeles.
	{file: "two-zones.ics", zone: "UTC", from: "2015-07-07", to: "2015-07-09", want: []string{
		"2015-07-07T16:00-07T20:00 Treasure Hunting",
		"2015-07-08T16:00-08T20:00 Treasure Hunting",
	}},
	{file: "undefined-zone.ics", zone: "America/New_York", from: "2021-03-01", to: "2021-05-01", want: []string{
		"2021-03-25T14:35-25T15:50 [private]",
	}, problems: []string{`zone "Customized Time Zone 1" is not known`, "duration: "}},
	// First Tuesdays, 4 Dec excepted; 2 Oct moved to 15:00, the RDATE of 5 Nov to the 6th at 20:00.
	{file: "zimbra-series.ics", zone: "UTC", from: "2012-10-01", to: "2013-03-01", want: []string{
		"2012-10-02T22:00-02T22:30 (02T17:00) Crazy Event Thingy!",
		"2012-11-06T18:00-06T18:30 Crazy Event Thingy!",
		"2012-11-07T04:00-07T04:30 (05T18:00) Crazy Event Thingy!",
		"2012-11-10T18:00-10T18:30 Crazy Event Thingy!",
		"2012-11-30T18:00-30T18:30 Crazy Event Thingy!",
		"2013-01-01T18:00-01T18:30 Crazy Event Thingy!",
	}},
	// The RDATE with a period has a length of its own.
	{file: "zimbra-series.ics", zone: "UTC", from: "2023-11-08", to: "2023-12-01", want: []string{
		"2023-11-23T09:00-23T09:30 Crazy Event Thingy!",
		"2023-11-25T09:00-25T12:30 Crazy Event Thingy!",
	}},
	{file: "zone-in-file.ics", zone: "UTC", from: "2023-03-06", to: "2023-03-07", want: []string{
		"2023-03-06T21:23-06T22:23 A test event",
	}},
}

// TestRealCalendars reads them.
func TestRealCalendars(t *testing.T) {
	for _, tt := range realCalendars {
		t.Run(tt.file+" "+tt.from, func(t *testing.T) {
			f, err := os.Open(filepath.Join("testdata", tt.file))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			got, problems, err := readCalendar(f, mustZone(t, tt.zone), onDay(tt.from), onDay(tt.to))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, brief(got)); diff != "" {
				t.Error(diff)
			}
			wantProblems(t, problems, tt.problems)
		})
	}
}

func wantProblems(t *testing.T, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("problems %q, want %q", got, want)
	}
	for i, part := range want {
		if !strings.Contains(got[i], part) {
			t.Errorf("problem %q does not hold %q", got[i], part)
		}
	}
}

// TestExchangeMovedWholeDay makes the Exchange calendar's days count, to see
// its exception: RECURRENCE-ID is a midnight in a Windows zone, DTSTART a date.
func TestExchangeMovedWholeDay(t *testing.T) {
	raw, err := os.ReadFile("testdata/exchange-moved-allday.ics")
	if err != nil {
		t.Fatal(err)
	}
	busy := strings.ReplaceAll(string(raw), "TRANSP:TRANSPARENT", "TRANSP:OPAQUE")
	got, problems, err := readCalendar(strings.NewReader(busy), mustZone(t, "Europe/Berlin"), onDay("2026-02-18"), onDay("2026-03-04"))
	if err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	want := []string{
		"2026-02-18T23:00-19T23:00 all day Exchange Recurring Test",
		"2026-02-23T23:00-24T23:00 all day Exchange Recurring Test",
		"2026-02-26T23:00-27T23:00 (25T23:00) all day Exchange Recurring Test",
		"2026-03-02T23:00-03T23:00 all day Exchange Recurring Test",
	}
	if diff := cmp.Diff(want, brief(got)); diff != "" {
		t.Error(diff)
	}
}

func TestNotACalendar(t *testing.T) {
	tests := []struct {
		name, body string
		want       error
		part       string
	}{
		{"html", "<!DOCTYPE html>\n<html><body>Sign in</body></html>", ErrNotCalendar, "web page"},
		{"html after blank lines", "\r\n\r\n  <html>", ErrNotCalendar, "web page"},
		{"empty", "", ErrNotCalendar, "empty"},
		{"blank", "\r\n\n", ErrNotCalendar, "empty"},
		{"json", `{"error":"gone"}`, ErrNotCalendar, "JSON"},
		{"event without calendar", "BEGIN:VEVENT\nEND:VEVENT\n", ErrNotCalendar, ""},
		{"contact", "BEGIN:VCARD\nEND:VCARD\n", ErrNotCalendar, ""},
		{"cut off in an event", "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1\n", ErrCutOff, ""},
		{"cut off between events", "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1\nDTSTART:20260101\nEND:VEVENT\n", ErrCutOff, ""},
		{"too many events", "BEGIN:VCALENDAR\n" + strings.Repeat("BEGIN:VEVENT\nEND:VEVENT\n", maxEvents+1) + "END:VCALENDAR\n", ErrTooLarge, "events"},
		{"too many occurrences", "BEGIN:VCALENDAR\n" + "BEGIN:VEVENT\nDTSTART:20000101T000000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY;BYHOUR=0,1,2,3,4,5,6,7,8,9\nEND:VEVENT\n" + "END:VCALENDAR\n", ErrTooLarge, "occurrences"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			list, _, err := readCalendar(strings.NewReader(tt.body), nil, onDay("2020-01-01"), onDay("2027-01-01"))
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.part) || list != nil {
				t.Errorf("got %d occurrences, %v; want %v with %q", len(list), err, tt.want, tt.part)
			}
		})
	}
}

// TestLinesAreFoldedAnywhere: RFC 5545, 3.1 lets a line be folded between any
// two characters, also in its name or right after it.
func TestLinesAreFoldedAnywhere(t *testing.T) {
	plain := calendarOf(eventOf("UID:fold@example", "DTSTART;TZID=Europe/Berlin:20260113T090000", "DTEND;TZID=Europe/Berlin:20260113T100000",
		"SUMMARY:Folded", "EXDATE:20260213T080000Z"))
	want, problems, err := readCalendar(strings.NewReader(plain), nil, january, february)
	if err != nil || len(problems) > 0 || len(want) != 1 {
		t.Fatal(want, problems, err)
	}
	for i := 1; i < len(plain); i++ {
		if strings.ContainsAny(plain[i-1:i+1], "\r\n") {
			continue
		}
		for _, fold := range []string{"\r\n ", "\n\t", "\r\n \r\n "} {
			got, problems, err := readCalendar(strings.NewReader(plain[:i]+fold+plain[i:]), nil, january, february)
			if diff := cmp.Diff(want, got); diff != "" || err != nil || len(problems) > 0 {
				t.Fatalf("folded before %q: %s %v %v", plain[i:min(i+20, len(plain))], diff, problems, err)
			}
		}
	}
}

// readCalendar parses all of a reader.
func readCalendar(r io.Reader, zone *time.Location, from, to time.Time) ([]Occurrence, []string, error) {
	body, err := io.ReadAll(r)
	if err != nil {
		return nil, nil, err
	}
	result, err := parse(body, zone, from, to)
	return result.Occurrences, result.Problems, err
}
