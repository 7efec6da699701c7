//go:build integration && faults

package main

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/agent/booking"
)

// feed asks for the calendar feed of the room. held are values of If-None-Match.
func (d *badDisk) feed(path string, held ...string) (status int, tag, body string) {
	d.t.Helper()
	r, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, d.base+path, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header["If-None-Match"] = held
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return got.StatusCode, got.Header.Get("ETag"), string(text)
}

// TestFeedOfAGateway: a walk-up that ends within its first second spoils no feed, and who holds the feed already is told so, as
// RFC 9110 has If-None-Match.
func TestFeedOfAGateway(t *testing.T) {
	d := openBadDisk(t, t.TempDir(), special{arguments: []string{"--cloud", "mqtt://" + freeAddress(t)}})
	var feed struct {
		Response struct {
			Path string `json:"path"`
		} `json:"response"`
	}
	if status, err := d.call(http.MethodPost, "/meetingspace/"+demoRoom+"/calendar/feed", struct{}{}, &feed); err != nil || status != http.StatusCreated {
		t.Fatal(status, err)
	}
	kept := d.one()
	const walkUps = 3
	for range walkUps {
		var walkUp bookingAnswer
		if status, err := d.call(http.MethodPost, "/bookings", map[string]any{"meeting_space_id": demoRoom, "source": "walk_up", "minutes": 15}, &walkUp); err != nil || status != http.StatusCreated {
			t.Fatal(status, err)
		}
		if status, err := d.call(http.MethodPost, "/bookings/"+walkUp.ID+"/end", struct{}{}, nil); err != nil || status != http.StatusOK {
			t.Fatal(status, err)
		}
		if status, _, body := d.feed(feed.Response.Path); status != http.StatusOK || !strings.Contains(body, kept.ID) {
			t.Fatalf("the feed gives %d %.300s", status, body)
		}
	}
	_, tag, body := d.feed(feed.Response.Path)
	if n := strings.Count(body, "BEGIN:VEVENT"); n <= walkUps || n != strings.Count(body, "DTSTART:") || n != strings.Count(body, "DTEND:") {
		t.Errorf("the feed is %s", body)
	}
	asked := 0
	for _, c := range []struct {
		held   []string
		status int
	}{
		{[]string{tag}, 304}, {[]string{"W/" + tag}, 304}, {[]string{`"x", W/"y", ` + tag}, 304}, {[]string{`"x"`, tag}, 304}, {[]string{"*"}, 304},
		{[]string{`"x"`}, 200}, {[]string{`"x", W/"y"`}, 200}, {nil, 200}, {[]string{strings.Trim(tag, `"`)}, 200},
	} {
		asked++
		if status, again, _ := d.feed(feed.Response.Path, c.held...); status != c.status || again != tag {
			t.Errorf("who holds %q gets %d with %s, want %d with %s", c.held, status, again, c.status, tag)
		}
	}
	survived(t, walkUps+asked)
}

// TestRulesOfAGateway: what a calendar's rules name is what the room is booked for, day by day as this test counts them; what cannot
// be worked out is shown at the link.
func TestRulesOfAGateway(t *testing.T) {
	d := openBadDisk(t, t.TempDir(), special{arguments: []string{"--allow-loopback", "--cloud", "mqtt://" + freeAddress(t)}})
	calendar := startCalendar(t)
	day := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 2)
	until := day.AddDate(0, 0, 60)
	second := func(at time.Time) bool { return at.Weekday() == time.Tuesday && (at.Day()-1)/7 == 1 }
	rules := []struct {
		name, rule string
		hour       int
		on         func(at time.Time) bool
	}{
		{"MONTHLY", "FREQ=MONTHLY;BYDAY=MO,2TU", 8, func(at time.Time) bool { return at.Weekday() == time.Monday || second(at) }},
		{"SPACED", "FREQ=MONTHLY;BYDAY=MO, 2TU", 9, func(at time.Time) bool { return at.Weekday() == time.Monday || second(at) }},
		{"FIRST", "FREQ=WEEKLY;BYDAY=MO,WE,FR;BYSETPOS=1", 10, func(at time.Time) bool { return at.Weekday() == time.Monday }},
		{"HOURS", "FREQ=DAILY;BYHOUR=11;BYDAY=SA", 11, func(at time.Time) bool { return at.Weekday() == time.Saturday }},
	}
	var text strings.Builder
	text.WriteString("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:test\r\n")
	want := map[string][]string{}
	for _, r := range rules {
		start := day.Add(time.Duration(r.hour) * time.Hour)
		// The start has a line that is folded right after its name.
		fmt.Fprintf(&text, "BEGIN:VEVENT\r\nUID:%s\r\nDTSTART\r\n :%s\r\nDURATION:PT30M\r\nRRULE:%s;UNTIL=%s\r\nSUMMARY:%[1]s\r\nEND:VEVENT\r\n", r.name,
			start.Format("20060102T150405Z"), r.rule, until.Format("20060102T150405Z"))
		for at := start; at.Before(until); at = at.AddDate(0, 0, 1) {
			if at.Equal(start) || r.on(at) {
				want[r.name] = append(want[r.name], at.Format("01-02T15"))
			}
		}
	}
	text.WriteString("BEGIN:VEVENT\r\nUID:HOURLY\r\nDTSTART:" + day.Add(14*time.Hour).Format("20060102T150405Z") + "\r\nDURATION:PT30M\r\nRRULE:FREQ=HOURLY\r\nSUMMARY:HOURLY\r\nEND:VEVENT\r\n")
	// An end without a zone beside a start that has one is of that zone.
	fmt.Fprintf(&text, "BEGIN:VEVENT\r\nUID:ZONE\r\nDTSTART;TZID=America/New_York:%s\r\nDTEND:%s\r\nSUMMARY:ZONE\r\nEND:VEVENT\r\n",
		day.Add(12*time.Hour).Format("20060102T150405"), day.Add(12*time.Hour+30*time.Minute).Format("20060102T150405"))
	text.WriteString("END:VCALENDAR\r\n")
	d.follow(calendar, http.StatusOK, text.String())
	awaitThat(t, "the link says what cannot be worked out", d.doubts)
	got := map[string][]string{}
	for _, b := range d.plan(demoRoom) {
		if b.State != booking.Booked {
			t.Errorf("%s at %v is %s", b.Title, b.Start, b.State)
		}
		if b.End.Sub(b.Start) != 30*time.Minute {
			t.Errorf("%s takes %v", b.Title, b.End.Sub(b.Start))
		}
		got[b.Title] = append(got[b.Title], b.Start.Format("01-02T15"))
	}
	for name := range want {
		slices.Sort(got[name])
		slices.Sort(want[name])
		if !slices.Equal(got[name], want[name]) {
			t.Errorf("%s: booked %q, want %q", name, got[name], want[name])
		}
	}
	if len(got["HOURLY"]) != 1 || len(got["ZONE"]) != 1 {
		t.Errorf("booked hourly %q, with a zone %q", got["HOURLY"], got["ZONE"])
	}
	survived(t, len(rules)+2)
}
