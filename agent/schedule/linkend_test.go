package schedule

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// manyMeetings is a calendar of so many, one every half hour.
func manyMeetings(n int) string {
	var b strings.Builder
	b.WriteString("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:test\r\n")
	for i := range n {
		start := time.Date(2000, 1, 2, 0, 30*i, 0, 0, time.UTC)
		fmt.Fprintf(&b, "BEGIN:VEVENT\r\nUID:%d\r\nDTSTAMP:20000101T000000Z\r\nDTSTART:%s\r\nDURATION:PT30M\r\nSUMMARY:m\r\nEND:VEVENT\r\n", i, start.Format("20060102T150405Z"))
	}
	return b.String() + "END:VCALENDAR\r\n"
}

// TestALargeCalendarEndsInParts: a transaction is in memory until it is on disk,
// and others wait for it.
func TestALargeCalendarEndsInParts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const meetings = 2*maxEdits + 100
		r := openRig(t, rigOptions{})
		r.calendars.linked = &http.Client{Transport: &website{status: http.StatusOK, body: manyMeetings(meetings)}}
		r.run()
		if _, err := r.LinkCalendar(t.Context(), room, "https://calendar.example/large.ics", ""); err != nil {
			t.Fatal(err)
		}
		r.wait(time.Minute)
		if link, err := r.CalendarLink(room); err != nil || link.Bookings != meetings {
			t.Fatalf("linked: %d bookings, %v, want %d", link.Bookings, err, meetings)
		}
		before := r.db.Stats().Commits
		if _, err := r.LinkCalendar(t.Context(), room, "", ""); err != nil {
			t.Fatal(err)
		}
		if n := r.db.Stats().Commits - before; n != 3 {
			t.Errorf("%d bookings went in %d transactions, want 3 of at most %d", meetings, n, maxEdits)
		}
		r.wait(time.Hour)
		for _, b := range r.plan(room) {
			if !strings.HasSuffix(b, " cancelled") {
				t.Fatalf("of the calendar that was unlinked there is %q", b)
			}
		}
	})
}
