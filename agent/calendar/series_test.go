package calendar

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// calendarOf wraps components; lines are joined as a file has them.
func calendarOf(parts ...string) string {
	return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n" + strings.ReplaceAll(strings.Join(parts, "\n"), "\n", "\r\n") + "\r\nEND:VCALENDAR\r\n"
}

func eventOf(lines ...string) string {
	return "BEGIN:VEVENT\n" + strings.Join(lines, "\n") + "\nEND:VEVENT"
}

// customZone is what Exchange writes for a zone that someone made: here two
// hours ahead, three from 1 May to 1 September.
const customZone = `BEGIN:VTIMEZONE
TZID:tzone://Microsoft/Custom
BEGIN:STANDARD
DTSTART:16010101T030000
TZOFFSETFROM:+0300
TZOFFSETTO:+0200
RRULE:FREQ=YEARLY;BYMONTHDAY=1;BYMONTH=9
END:STANDARD
BEGIN:DAYLIGHT
DTSTART:16010101T020000
TZOFFSETFROM:+0200
TZOFFSETTO:+0300
RRULE:FREQ=YEARLY;BYMONTHDAY=1;BYMONTH=5
END:DAYLIGHT
END:VTIMEZONE`

func TestEvents(t *testing.T) {
	const series = "UID:s\nSUMMARY:S\nDTSTART;TZID=Europe/Berlin:20260302T090000\nDTEND;TZID=Europe/Berlin:20260302T100000"
	tests := []struct {
		name     string
		parts    []string
		from, to string // the default is the year 2026
		want     []string
		problems []string
	}{
		{name: "duration instead of end", parts: []string{eventOf("UID:1", "SUMMARY:A", "DTSTART:20260105T100000Z", "DURATION:PT1H30M")},
			want: []string{"2026-01-05T10:00-05T11:30 A"}},
		{name: "floating time is the room's", parts: []string{eventOf("UID:1", "SUMMARY:A", "DTSTART:20260705T100000", "DURATION:PT1H")},
			want: []string{"2026-07-05T08:00-05T09:00 A"}},
		{name: "date without end is one day", parts: []string{eventOf("UID:1", "SUMMARY:A", "DTSTART;VALUE=DATE:20260105")},
			want: []string{"2026-01-04T23:00-05T23:00 all day A"}},
		{name: "date with its own end is one day", parts: []string{eventOf("UID:1", "SUMMARY:A", "DTSTART:20260105", "DTEND:20260105")},
			want: []string{"2026-01-04T23:00-05T23:00 all day A"}},
		{name: "a day of 23 hours", parts: []string{eventOf("UID:1", "SUMMARY:A", "DTSTART;VALUE=DATE:20260329", "DURATION:P1D")},
			want: []string{"2026-03-28T23:00-29T22:00 all day A"}},
		{name: "no length, no use", parts: []string{eventOf("UID:1", "DTSTART:20260105T100000Z"), eventOf("UID:2", "DTSTART:20260105T100000Z", "DTEND:20260105T100000Z")},
			want: []string{}},
		{name: "end before start", parts: []string{eventOf("UID:1", "DTSTART:20260105T100000Z", "DTEND:20260105T090000Z")},
			want: []string{}, problems: []string{`event "1": dtend: it is before the start; the event was left out`}},
		{name: "longer than ten years", parts: []string{eventOf("UID:1", "DTSTART;VALUE=DATE:00010101", "DTEND;VALUE=DATE:99991231"), eventOf("UID:2", "DTSTART:00010101T000000Z", "DTEND:99991231T000000Z"), eventOf("UID:3", "DTSTART:20260101", "DURATION:P999999999W")},
			want: []string{}, problems: []string{"ten years", "ten years", "ten years"}},
		{name: "one bad event does not sink the rest", parts: []string{eventOf("UID:1", "DTSTART:tomorrow", "DURATION:PT1H"), eventOf("UID:2", "DURATION:PT1H"), eventOf("UID:3", "SUMMARY:A", "DTSTART:20260105T100000Z", "DURATION:PT1H", "not a line", "ATTENDEE;CN=\"x:mailto:y")},
			want: []string{"2026-01-05T10:00-05T11:00 A"}, problems: []string{"dtstart", "dtstart is missing"}},
		{name: "lower case and tab folds", parts: []string{"begin:vevent\nuid:1\nsummary:long\n\ter \n title\ndtstart;tzid=Europe/Berlin:20260105t100000\nduration:pt1h\nend:vevent"},
			want: []string{"2026-01-05T09:00-05T10:00 longer title"}},
		{name: "alarm does not speak for the event", parts: []string{eventOf("UID:1", "SUMMARY:A", "DTSTART:20260105T100000Z", "DURATION:PT1H", "BEGIN:VALARM", "UID:x", "SUMMARY:B", "DURATION:PT5M", "STATUS:CANCELLED", "END:VALARM")},
			want: []string{"2026-01-05T10:00-05T11:00 A"}},
		{name: "event without end", parts: []string{"BEGIN:VEVENT\nUID:1\nDTSTART:20260105T100000Z\nDURATION:PT1H", eventOf("UID:2", "SUMMARY:B", "DTSTART:20260105T100000Z", "DURATION:PT1H")},
			want: []string{"2026-01-05T10:00-05T11:00 B"}, problems: []string{"a vevent has no end"}},
		{name: "tentative, transparent, free and cancelled", parts: []string{
			eventOf("UID:1", "SUMMARY:tentative", "STATUS:TENTATIVE", "DTSTART:20260105T100000Z", "DURATION:PT1H"),
			eventOf("UID:2", "TRANSP:TRANSPARENT", "DTSTART:20260105T100000Z", "DURATION:PT1H"),
			eventOf("UID:3", "X-MICROSOFT-CDO-BUSYSTATUS:FREE", "DTSTART:20260105T100000Z", "DURATION:PT1H"),
			eventOf("UID:4", "STATUS:CANCELLED", "DTSTART:20260105T100000Z", "DURATION:PT1H")},
			want: []string{"2026-01-05T10:00-05T11:00 tentative"}},
		{name: "calendar of cancellations", parts: []string{"METHOD:CANCEL", eventOf("UID:1", "DTSTART:20260105T100000Z", "DURATION:PT1H")}, want: []string{}},

		{name: "clock change in a series", parts: []string{eventOf("RRULE:FREQ=WEEKLY;COUNT=6", series)}, from: "2026-03-20", to: "2026-04-01",
			want: []string{"2026-03-23T08:00-23T09:00 S", "2026-03-30T07:00-30T08:00 S"}},
		// 02:30 does not exist on 29 March: 01:30Z. It exists twice on 25 October: the first, 00:30Z.
		{name: "the hour that is not, the hour that is twice", parts: []string{eventOf("UID:1", "SUMMARY:A", "DTSTART;TZID=W. Europe Standard Time:20260328T023000", "DURATION:PT30M", "RRULE:FREQ=DAILY")}, from: "2026-03-28", to: "2026-03-31",
			want: []string{"2026-03-28T01:30-28T02:00 A", "2026-03-29T01:30-29T02:00 A", "2026-03-30T00:30-30T01:00 A"}},
		{name: "twice", parts: []string{eventOf("UID:1", "SUMMARY:A", "DTSTART;TZID=Europe/Berlin:20260328T023000", "DURATION:PT30M", "RRULE:FREQ=DAILY")}, from: "2026-10-24", to: "2026-10-27",
			want: []string{"2026-10-24T00:30-24T01:00 A", "2026-10-25T00:30-25T01:00 A", "2026-10-26T01:30-26T02:00 A"}},
		{name: "starts in the hour that is not", parts: []string{eventOf("UID:1", "SUMMARY:A", "DTSTART;TZID=Europe/Berlin:20260329T024000", "DTEND;TZID=Europe/Berlin:20260329T032500")},
			want: []string{"2026-03-29T01:40-29T02:25 A"}},
		{name: "end is exact, days of a duration are nominal", parts: []string{
			eventOf("UID:1", "SUMMARY:end", "DTSTART;TZID=Europe/Berlin:20260321T120000", "DTEND;TZID=Europe/Berlin:20260322T120000", "RRULE:FREQ=WEEKLY;COUNT=2"),
			eventOf("UID:2", "SUMMARY:dur", "DTSTART;TZID=Europe/Berlin:20260321T120000", "DURATION:P1D", "RRULE:FREQ=WEEKLY;COUNT=2")}, from: "2026-03-28",
			want: []string{"2026-03-28T11:00-29T11:00 end", "2026-03-28T11:00-29T10:00 dur"}},
		{name: "zone of the file", parts: []string{eventOf("UID:1", "SUMMARY:A", "DTSTART;TZID=\"tzone://Microsoft/Custom\":20260430T100000", "DURATION:PT1H", "RRULE:FREQ=DAILY;COUNT=3"), customZone},
			want: []string{"2026-04-30T08:00-30T09:00 A", "2026-05-01T07:00-01T08:00 A", "2026-05-02T07:00-02T08:00 A"}},
		// The custom zone leaves +2 on 1 May at 02:00, 00:00Z, and +3 on 1 September at 03:00, 00:00Z.
		{name: "the hour of the change", parts: []string{customZone,
			eventOf("UID:1", "SUMMARY:A", "DTSTART;TZID=\"tzone://Microsoft/Custom\":20260501T015900", "DURATION:PT1M"), eventOf("UID:2", "SUMMARY:B", "DTSTART;TZID=\"tzone://Microsoft/Custom\":20260501T030000", "DURATION:PT1M"),
			eventOf("UID:3", "SUMMARY:C", "DTSTART;TZID=\"tzone://Microsoft/Custom\":20260901T015900", "DURATION:PT1M"), eventOf("UID:4", "SUMMARY:D", "DTSTART;TZID=\"tzone://Microsoft/Custom\":20260901T030000", "DURATION:PT1M")},
			want: []string{"2026-04-30T23:59-01T00:00 A", "2026-05-01T00:00-01T00:01 B", "2026-08-31T22:59-31T23:00 C", "2026-09-01T01:00-01T01:01 D"}},
		{name: "definition that names its place", parts: []string{"BEGIN:VTIMEZONE\nTZID:Home\nX-LIC-LOCATION:Europe/Berlin\nBEGIN:STANDARD\nDTSTART:20200101T000000\nTZOFFSETFROM:+0900\nTZOFFSETTO:+0900\nEND:STANDARD\nEND:VTIMEZONE",
			eventOf("UID:1", "SUMMARY:A", "DTSTART;TZID=Home:20260705T100000", "DURATION:PT1H")},
			want: []string{"2026-07-05T08:00-05T09:00 A"}},
		{name: "definition that cannot be read", parts: []string{"BEGIN:VTIMEZONE\nTZID:Home\nBEGIN:STANDARD\nDTSTART:20200101T000000\nTZOFFSETFROM:east\nTZOFFSETTO:+0900\nEND:STANDARD\nEND:VTIMEZONE",
			eventOf("UID:1", "SUMMARY:A", "DTSTART;TZID=Home:20260705T100000", "DURATION:PT1H")},
			want: []string{"2026-07-05T08:00-05T09:00 A"}, problems: []string{`time zone "Home": standard: tzoffsetfrom: "east" is not an offset`}},
		{name: "colon in a name without quotes", parts: []string{eventOf("UID:1", "SUMMARY:A", "DTSTART;TZID=(UTC+01:00) Amsterdam\\, Berlin\\, Bern\\, Rome\\, Stockholm\\, Vienna:20260705T100000", "DURATION:PT1H")},
			want: []string{"2026-07-05T08:00-05T09:00 A"}},
		{name: "vendor's path", parts: []string{eventOf("UID:1", "SUMMARY:A", "DTSTART;TZID=/freeassociation.sourceforge.net/Tzfile/America/Indiana/Knox:20260705T100000", "DURATION:PT1H")},
			want: []string{"2026-07-05T15:00-05T16:00 A"}},
		{name: "Local is not the gateway's zone", parts: []string{eventOf("UID:1", "SUMMARY:A", "DTSTART;TZID=Local:20260705T100000", "DURATION:PT1H")},
			want: []string{"2026-07-05T08:00-05T09:00 A"}, problems: []string{"Local"}},

		{name: "until is inclusive", parts: []string{eventOf("RRULE:FREQ=DAILY;UNTIL=20260304T080000Z", series)},
			want: []string{"2026-03-02T08:00-02T09:00 S", "2026-03-03T08:00-03T09:00 S", "2026-03-04T08:00-04T09:00 S"}},
		{name: "until a day", parts: []string{eventOf("RRULE:FREQ=DAILY;UNTIL=20260303;", series)},
			want: []string{"2026-03-02T08:00-02T09:00 S", "2026-03-03T08:00-03T09:00 S"}},
		{name: "until before the start", parts: []string{eventOf("RRULE:FREQ=DAILY;UNTIL=20260301T000000Z", series)}, want: []string{}},
		{name: "start that the rule does not yield counts", parts: []string{eventOf("RRULE:FREQ=WEEKLY;BYDAY=TU;COUNT=2", series)},
			want: []string{"2026-03-02T08:00-02T09:00 S", "2026-03-03T08:00-03T09:00 S"}},
		{name: "31st only where there is one", parts: []string{eventOf("UID:1", "SUMMARY:A", "DTSTART:20250131T080000Z", "DURATION:PT1H", "RRULE:FREQ=MONTHLY")}, to: "2026-05-01",
			want: []string{"2026-01-31T08:00-31T09:00 A", "2026-03-31T08:00-31T09:00 A"}},
		{name: "exceptions and more dates", parts: []string{eventOf("RRULE:FREQ=DAILY;COUNT=4", "EXDATE;TZID=Europe/Berlin:20260303T090000,", "EXDATE;VALUE=DATE:20260304", "EXDATE:20260305T080000Z", "RDATE;TZID=Europe/Berlin:20260310T090000", "RDATE;VALUE=PERIOD:20260311T100000Z/PT15M", series)},
			want: []string{"2026-03-02T08:00-02T09:00 S", "2026-03-10T08:00-10T09:00 S", "2026-03-11T10:00-11T10:15 S"}},
		{name: "bad exception keeps the series", parts: []string{eventOf("RRULE:FREQ=DAILY;COUNT=2", "EXDATE:someday", series)},
			want: []string{"2026-03-02T08:00-02T09:00 S", "2026-03-03T08:00-03T09:00 S"}, problems: []string{"exdate"}},
		{name: "exrule is named", parts: []string{eventOf("RRULE:FREQ=DAILY;COUNT=1", "EXRULE:FREQ=DAILY", series)},
			want: []string{"2026-03-02T08:00-02T09:00 S"}, problems: []string{"exrule"}},
		{name: "hourly is refused, its first use stays", parts: []string{eventOf("RRULE:FREQ=HOURLY", series)},
			want: []string{"2026-03-02T08:00-02T09:00 S"}, problems: []string{"freq=hourly is not supported"}},

		{name: "moved, cancelled and shortened", parts: []string{eventOf("RRULE:FREQ=DAILY;COUNT=4", series),
			eventOf("UID:s", "SUMMARY:moved", "RECURRENCE-ID:20260303T080000Z", "DTSTART:20260320T120000Z", "DURATION:PT1H"),
			eventOf("UID:s", "STATUS:CANCELLED", "RECURRENCE-ID;TZID=Europe/Berlin:20260304T090000", "DTSTART:20260304T080000Z", "DURATION:PT1H"),
			eventOf("UID:s", "SUMMARY:short", "RECURRENCE-ID;VALUE=DATE:20260305", "DTSTART:20260305T080000Z", "DURATION:PT10M")},
			want: []string{"2026-03-02T08:00-02T09:00 S", "2026-03-05T08:00-05T08:10 short", "2026-03-20T12:00-20T13:00 (03T08:00) moved"}},
		{name: "moved into the window from far away", parts: []string{eventOf("RRULE:FREQ=DAILY;COUNT=4", series),
			eventOf("UID:s", "SUMMARY:moved", "RECURRENCE-ID:20260303T080000Z", "DTSTART:20270303T080000Z", "DURATION:PT1H")}, from: "2027-01-01", to: "2028-01-01",
			want: []string{"2027-03-03T08:00-03T09:00 (03T08:00) moved"}},
		{name: "the newer of two changes", parts: []string{eventOf("RRULE:FREQ=DAILY;COUNT=1", series),
			eventOf("UID:s", "SUMMARY:new", "SEQUENCE:2", "RECURRENCE-ID:20260302T080000Z", "DTSTART:20260302T100000Z", "DURATION:PT1H"),
			eventOf("UID:s", "SUMMARY:old", "SEQUENCE:1", "RECURRENCE-ID:20260302T080000Z", "DTSTART:20260302T120000Z", "DURATION:PT1H")},
			want: []string{"2026-03-02T10:00-02T11:00 (02T08:00) new"}},
		{name: "the later modified of two changes", parts: []string{eventOf("RRULE:FREQ=DAILY;COUNT=1", series),
			eventOf("UID:s", "SUMMARY:new", "DTSTAMP:20260101T000000Z", "LAST-MODIFIED:20260103T000000Z", "RECURRENCE-ID:20260302T080000Z", "DTSTART:20260302T100000Z", "DURATION:PT1H"),
			eventOf("UID:s", "SUMMARY:old", "DTSTAMP:20260102T000000Z", "RECURRENCE-ID:20260302T080000Z", "DTSTART:20260302T120000Z", "DURATION:PT1H")},
			want: []string{"2026-03-02T10:00-02T11:00 (02T08:00) new"}},
		{name: "a period on a date of the rule has its own length", parts: []string{eventOf("RRULE:FREQ=DAILY;COUNT=2", "RDATE;VALUE=PERIOD:20260303T080000Z/PT4H", series)},
			want: []string{"2026-03-02T08:00-02T09:00 S", "2026-03-03T08:00-03T12:00 S"}},
		{name: "excepted and changed", parts: []string{eventOf("RRULE:FREQ=DAILY;COUNT=1", "EXDATE:20260302T080000Z", series),
			eventOf("UID:s", "RECURRENCE-ID:20260302T080000Z", "DTSTART:20260302T100000Z", "DURATION:PT1H")}, want: []string{}},
		{name: "change without its series", parts: []string{eventOf("UID:s", "SUMMARY:A", "RECURRENCE-ID:20260302T080000Z", "DTSTART:20260302T100000Z", "DURATION:PT1H")},
			want: []string{"2026-03-02T10:00-02T11:00 (02T08:00) A"}},
		{name: "cancelled series", parts: []string{eventOf("RRULE:FREQ=DAILY;COUNT=4", "STATUS:CANCELLED", "SEQUENCE:3", series),
			eventOf("UID:s", "SEQUENCE:1", "RECURRENCE-ID:20260302T080000Z", "DTSTART:20260302T100000Z", "DURATION:PT1H")}, want: []string{}},
		{name: "this and future", parts: []string{eventOf("RRULE:FREQ=WEEKLY;COUNT=5", series),
			eventOf("UID:s", "SUMMARY:later", "RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Berlin:20260323T090000", "DTSTART;TZID=Europe/Berlin:20260324T140000", "DURATION:PT2H")},
			want: []string{"2026-03-02T08:00-02T09:00 S", "2026-03-09T08:00-09T09:00 S", "2026-03-16T08:00-16T09:00 S",
				"2026-03-24T13:00-24T15:00 (23T08:00) later", "2026-03-31T12:00-31T14:00 (30T07:00) later"}},
		{name: "this and future moved by weeks", parts: []string{eventOf("RRULE:FREQ=WEEKLY;COUNT=3", series),
			eventOf("UID:s", "SUMMARY:later", "RECURRENCE-ID;RANGE=THISANDFUTURE:20260302T080000Z", "DTSTART:20260402T080000Z", "DURATION:PT1H")}, from: "2026-04-08", to: "2026-04-12",
			want: []string{"2026-04-09T08:00-09T09:00 (09T08:00) later"}},
		{name: "this and future moved back", parts: []string{eventOf("RRULE:FREQ=WEEKLY;COUNT=3", series),
			eventOf("UID:s", "SUMMARY:later", "RECURRENCE-ID;RANGE=THISANDFUTURE:20260302T080000Z", "DTSTART:20260202T080000Z", "DURATION:PT1H")}, from: "2026-02-08", to: "2026-02-10",
			want: []string{"2026-02-09T08:00-09T09:00 (09T08:00) later"}},
		{name: "a long use that began before the window", parts: []string{eventOf("UID:1", "SUMMARY:A", "DTSTART:20260105T080000Z", "DURATION:P6D", "RRULE:FREQ=WEEKLY")}, from: "2026-02-07", to: "2026-02-08",
			want: []string{"2026-02-02T08:00-08T08:00 A"}},
		{name: "this and future cancelled", parts: []string{eventOf("RRULE:FREQ=WEEKLY;COUNT=5", series),
			eventOf("UID:s", "STATUS:CANCELLED", "RECURRENCE-ID;RANGE=THISANDFUTURE:20260309T080000Z", "DTSTART:20260309T080000Z", "DURATION:PT2H")},
			want: []string{"2026-03-02T08:00-02T09:00 S"}},
		{name: "the newer of two with one uid", parts: []string{eventOf("UID:1", "SEQUENCE:1", "SUMMARY:new", "DTSTART:20260105T100000Z", "DURATION:PT1H"), eventOf("UID:1", "SUMMARY:old", "DTSTART:20260106T100000Z", "DURATION:PT1H")},
			want: []string{"2026-01-05T10:00-05T11:00 new"}, problems: []string{"twice"}},
		{name: "touching the window is not in it", parts: []string{
			eventOf("UID:1", "SUMMARY:before", "DTSTART:20251231T230000Z", "DURATION:PT1H"), eventOf("UID:2", "SUMMARY:into", "DTSTART:20251231T230000Z", "DURATION:PT61M"),
			eventOf("UID:3", "SUMMARY:out", "DTSTART:20261231T235900Z", "DURATION:PT1H"), eventOf("UID:4", "SUMMARY:after", "DTSTART:20270101T000000Z", "DURATION:PT1H")},
			want: []string{"2025-12-31T23:00-01T00:01 into", "2026-12-31T23:59-01T00:59 out"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			from, to := onDay("2026-01-01"), onDay("2027-01-01")
			if tt.from != "" {
				from = onDay(tt.from)
			}
			if tt.to != "" {
				to = onDay(tt.to)
			}
			got, problems, err := readCalendar(strings.NewReader(calendarOf(tt.parts...)), mustZone(t, "Europe/Berlin"), from, to)
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

func TestOccurrenceFields(t *testing.T) {
	body := calendarOf(eventOf("UID:a\\,b", `SUMMARY;LANGUAGE=de:Jour\, fixe\; neu\nzweite Zeile \\o/`, "CLASS:CONFIDENTIAL", "SEQUENCE:7",
		`ORGANIZER;CN="Kaya, ^'Ada^'";SENT-BY="mailto:x@example.org":MAILTO:ada@example.org`,
		"DTSTART:20260105T100000Z", "DURATION:PT1H", "RRULE:FREQ=DAILY;COUNT=1"))
	got, problems, err := readCalendar(strings.NewReader("\xef\xbb\xbf"+body), nil, onDay("2026-01-01"), onDay("2027-01-01"))
	if err != nil || len(problems) > 0 || len(got) != 1 {
		t.Fatal(got, problems, err)
	}
	want := Occurrence{UID: "a,b", Recurrence: at("2026-01-05T10:00"), Start: at("2026-01-05T10:00"), End: at("2026-01-05T11:00"),
		Title: "Jour, fixe; neu\nzweite Zeile \\o/", Private: true, Sequence: 7, Organizer: Person{Name: `Kaya, "Ada"`, Email: "ada@example.org"}}
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Error(diff)
	}
	if id := got[0].ExternalID(); id != "a,b/20260105T100000Z" {
		t.Error(id)
	}
	single := Occurrence{UID: "x", Start: time.Now()}
	if id := single.ExternalID(); id != "x" {
		t.Error(id)
	}
}
