package calendar

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"roomgate/agent/goldentest"
)

func TestWrite(t *testing.T) {
	var b bytes.Buffer
	err := Write(&b, "Aurora; 2nd floor", []Entry{
		{UID: "bk_1", Sequence: 3, Start: at("2026-01-05T10:00"), End: at("2026-01-05T11:30"), Title: "Plan, next\nyear", Status: "CONFIRMED",
			Updated: at("2026-01-01T09:00"), Organizer: Person{Name: `Kaya, "Ada"`, Email: "ada@example.org"}},
		{UID: "bk_2", Start: at("2026-01-06T10:00"), End: at("2026-01-06T11:00"), Status: "CANCELLED"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.ReplaceAll(`BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Roomgate//Room calendar//EN
CALSCALE:GREGORIAN
METHOD:PUBLISH
X-WR-CALNAME:Aurora\; 2nd floor
NAME:Aurora\; 2nd floor
REFRESH-INTERVAL;VALUE=DURATION:PT5M
X-PUBLISHED-TTL:PT5M
BEGIN:VEVENT
UID:bk_1
DTSTAMP:20260101T090000Z
LAST-MODIFIED:20260101T090000Z
DTSTART:20260105T100000Z
DTEND:20260105T113000Z
SEQUENCE:3
STATUS:CONFIRMED
SUMMARY:Plan\, next\nyear
ORGANIZER;CN="Kaya, ^'Ada^'":mailto:ada@example.org
TRANSP:OPAQUE
END:VEVENT
BEGIN:VEVENT
UID:bk_2
DTSTAMP:20260106T100000Z
LAST-MODIFIED:20260106T100000Z
DTSTART:20260106T100000Z
DTEND:20260106T110000Z
SEQUENCE:0
STATUS:CANCELLED
SUMMARY:
TRANSP:OPAQUE
END:VEVENT
END:VCALENDAR
`, "\n", "\r\n")
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestWriteRefuses(t *testing.T) {
	good := Entry{UID: "1", Start: at("2026-01-05T10:00"), End: at("2026-01-05T11:00"), Status: "CONFIRMED"}
	tests := []struct {
		field string
		spoil func(*Entry)
	}{
		{"uid", func(e *Entry) { e.UID = "" }},
		{"uid", func(e *Entry) { e.UID = "a\r\nATTACH:x" }},
		{"uid", func(e *Entry) { e.UID = strings.Repeat("u", maxTitle+1) }},
		{"end", func(e *Entry) { e.End = e.Start }},
		{"end", func(e *Entry) { e.End = e.Start.Add(time.Millisecond) }},
		{"start", func(e *Entry) { e.End = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }},
		{"status", func(e *Entry) { e.Status = "confirmed" }},
		{"sequence", func(e *Entry) { e.Sequence = -1 }},
	}
	for _, tt := range tests {
		e := good
		tt.spoil(&e)
		var b bytes.Buffer
		err := Write(&b, "room", []Entry{good, e})
		if err == nil || !strings.Contains(err.Error(), "entry 1") || !strings.Contains(err.Error(), tt.field+": ") || b.Len() > 0 {
			t.Errorf("%s: %v, %d bytes", tt.field, err, b.Len())
		}
	}
	if err := Write(brokenWriter{}, "room", []Entry{good}); !errors.Is(err, errBroken) {
		t.Errorf("a writer that fails: %v", err)
	}
}

// TestWriteFolds: the first piece of a line has 75 bytes at most, the space of
// the others counts.
func TestWriteFolds(t *testing.T) {
	for _, letter := range []string{"x", "ä", "🚪"} {
		want := strings.Repeat(letter, 300)
		var b bytes.Buffer
		e := Entry{UID: strings.Repeat("u", 500), Start: january, End: february, Title: want, Status: "CONFIRMED", Organizer: Person{Name: want}}
		if err := Write(&b, want, []Entry{e}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(b.String(), "\r\n") {
			if len(line) > 75 || !utf8.ValidString(line) {
				t.Errorf("%d bytes: %q", len(line), line)
			}
		}
		got, _, err := readCalendar(&b, nil, january, february)
		if title := title(want); err != nil || len(got) != 1 {
			t.Errorf("%+v, %v", got, err)
		} else {
			goldentest.Values(t, "the event", goldentest.Pairs{"Title": {got[0].Title, title},
				"Organizer.Name": {got[0].Organizer.Name, title}, "UID": {got[0].UID, e.UID}})
		}
	}
}

var errBroken = errors.New("broken")

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

// drawText draws text with everything that escaping and folding care about.
func drawText(t *rapid.T, label string) string {
	return rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune("\\,;:\"^'\n\r\t nN\x00ä🚪")))).Draw(t, label)
}

func drawEntry(t *rapid.T, uid string) Entry {
	start := onDay("2026-01-01").Add(time.Duration(rapid.IntRange(0, 300*24*3600).Draw(t, "start")) * time.Second)
	return Entry{
		UID: uid, Sequence: rapid.Int64Range(0, 1000).Draw(t, "sequence"),
		Start: start, End: start.Add(time.Duration(rapid.IntRange(1, 48*3600).Draw(t, "length")) * time.Second),
		Title: drawText(t, "title"), Status: rapid.SampledFrom([]string{"CONFIRMED", "CANCELLED"}).Draw(t, "status"),
		Updated:   start.Add(-time.Hour),
		Organizer: Person{Name: drawText(t, "name"), Email: rapid.SampledFrom([]string{"", "ada@example.org", "çelik@example.org"}).Draw(t, "email")},
	}
}

// shown is what text is expected to come back as.
func shown(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	return title(strings.TrimSpace(title(s)))
}

func TestWrittenIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var entries []Entry
		want := map[string]Occurrence{}
		for _, uid := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-zA-Z0-9,;:\\@ç-]{1,120}`), 0, 8, rapid.ID).Draw(t, "uids") {
			e := drawEntry(t, uid)
			entries = append(entries, e)
			if e.Status == "CONFIRMED" {
				name := strings.TrimSpace(strings.ReplaceAll(shown(e.Organizer.Name), `\`, "/"))
				want[uid] = Occurrence{UID: uid, Start: e.Start, End: e.End, Title: shown(e.Title), Sequence: int(e.Sequence),
					Organizer: Person{Name: name, Email: e.Organizer.Email}}
			}
		}
		var b bytes.Buffer
		if err := Write(&b, drawText(t, "room"), entries); err != nil {
			t.Fatal(err)
		}
		wantWellFormed(t, b.String())
		list, problems, err := readCalendar(&b, nil, onDay("2025-01-01"), onDay("2028-01-01"))
		if err != nil || len(problems) > 0 {
			t.Fatal(problems, err)
		}
		got := map[string]Occurrence{}
		for _, o := range list {
			got[o.UID] = o
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

// The grammar of RFC 5545, 3.1 and 3.3.11, for the lines that Write makes.
var (
	contentLine = regexp.MustCompile(`^([A-Z-]+)(;[A-Z-]+=("[^"\x00-\x08\x0a-\x1f\x7f]*"|[^";:,\x00-\x08\x0a-\x1f\x7f]*))*:([^\x00-\x08\x0a-\x1f\x7f]*)$`)
	textValue   = regexp.MustCompile(`^([^\\;,]|\\[\\;,nN])*$`)
	texts       = []string{"UID", "SUMMARY", "NAME", "X-WR-CALNAME"}
)

// wantWellFormed checks what RFC 5545 asks of every line, and that each
// component ends.
func wantWellFormed(t *rapid.T, s string) {
	for _, line := range strings.SplitAfter(s, "\r\n") {
		body := strings.TrimSuffix(line, "\r\n")
		switch {
		case line == "":
		case body == line:
			t.Fatalf("%q does not end with CRLF", line)
		case len(body) > 75:
			t.Fatalf("%q has %d bytes", body, len(body))
		case !utf8.ValidString(body):
			t.Fatalf("%q cuts a character", body)
		case strings.ContainsAny(body, "\r\n\x00"):
			t.Fatalf("%q holds a control character", body)
		}
	}
	var open []string
	for line := range strings.SplitSeq(strings.TrimSuffix(strings.ReplaceAll(s, "\r\n ", ""), "\r\n"), "\r\n") {
		m := contentLine.FindStringSubmatch(line)
		if m == nil || slices.Contains(texts, m[1]) && !textValue.MatchString(m[4]) {
			t.Fatalf("%q is not a line of a calendar", line)
		}
		switch m[1] {
		case "BEGIN":
			open = append(open, m[4])
		case "END":
			if len(open) == 0 || open[len(open)-1] != m[4] {
				t.Fatalf("%q ends one of %q", line, open)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Fatalf("%q have no end", open)
	}
}

// TestFeedHasNoMarks: neither the controls of C1 nor what turns a text around
// gets into a feed, or from one into a booking.
func TestFeedHasNoMarks(t *testing.T) {
	const nasty = "a\u009b31m\u202eb\u2066c\u061cd\u200fe\u007ff"
	var out strings.Builder
	start := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	err := Write(&out, "Room "+nasty, []Entry{{UID: "u", Start: start, End: start.Add(time.Hour), Title: nasty, Status: "CONFIRMED",
		Organizer: Person{Name: nasty, Email: "a@example.com"}}})
	if err != nil || strings.ContainsAny(out.String(), "\u009b\u202e\u2066\u061c\u200f\u007f") || !strings.Contains(out.String(), "SUMMARY:a31mbcdef") {
		t.Errorf("%q, %v", out.String(), err)
	}
	if got := title(nasty); got != "a31mbcdef" {
		t.Errorf("read as %q", got)
	}
}
