package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestEventsSinceAreAll: who asks for the events since a time gets each of them once, oldest first, however many pages they fill:
// by V1.0, by V2.0 and at the command line.
func TestEventsSinceAreAll(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	const requests, each = 3, 100
	day := time.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	var made []string
	for i := range requests {
		operations := make([]string, each)
		for k := range operations {
			id, at := fmt.Sprintf("b%03d", i*each+k), day.Add(time.Duration(i*each+k)*15*time.Minute)
			made = append(made, id)
			operations[k] = fmt.Sprintf(`{"operation":"create","id":%q,"meeting_space_id":%q,"start_time":%q,"end_time":%q}`,
				id, demoAurora, at.Format(time.RFC3339), at.Add(15*time.Minute).Format(time.RFC3339))
		}
		body := `{"operations":[` + strings.Join(operations, ",") + `]}`
		if status, got := d.call(t, "POST", "/bookings/bulk", "application/json", []byte(body)); status >= 300 || strings.Contains(got, `"problem"`) {
			t.Fatalf("%d %.300s", status, got)
		}
	}
	since := url.QueryEscape(time.Now().UTC().Add(-time.Hour).Format(time.RFC3339))
	for path, rows := range map[string]string{"/devices/events": "events", "/v2.0/events": "items"} {
		var got []string
		cursor := ""
		for range 20 {
			status, answer := d.call(t, "GET", path+"?event_type=booking.created&limit=70&since="+since+cursor, "", nil)
			var page map[string]json.RawMessage
			var records []json.RawMessage
			var next string
			for _, err := range []error{json.Unmarshal([]byte(answer), &page), json.Unmarshal(page[rows], &records), json.Unmarshal(page["next_cursor"], &next)} {
				if err != nil || status != 200 {
					t.Fatalf("%s: %d %.300s, %v", path, status, answer, err)
				}
			}
			if len(records) == 0 {
				break
			}
			for _, r := range records {
				got = append(got, bookingOf(string(r)))
			}
			cursor = "&cursor=" + next
		}
		if !slices.Equal(got, made) {
			t.Errorf("%s: %d events of %d: %q", path, len(got), len(made), got)
		}
	}
	out, err := d.typed(t, []string{"bin/roomgate events --since -1h --type booking.created --output json --url http://127.0.0.1:8080 --key " + demoKey}, "")
	var page eventPage
	if err != nil || json.Unmarshal([]byte(out), &page) != nil {
		t.Fatalf("%v: %.300s", err, out)
	}
	var got []string
	for _, e := range page.Events {
		got = append(got, fmt.Sprint(e.Details["booking_id"]))
	}
	if !slices.Equal(got, made) {
		t.Errorf("the command has %d events of %d: %q", len(got), len(made), got)
	}
}

// bookingOf is the id of the booking in a record of either version.
func bookingOf(record string) string {
	_, rest, _ := strings.Cut(record, `"booking_id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}
