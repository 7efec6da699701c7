package console

import (
	"regexp"
	"strconv"
	"testing"

	"roomgate/agent/booking"
	"roomgate/agent/web"
)

// TestMeetingsBesideEachOther: what shares a row of the day shares its width.
func TestMeetingsBesideEachOther(t *testing.T) {
	var all []booking.Booking
	want := map[string]string{}
	for _, m := range [][3]string{{"08:00", "09:00", ""}, {"09:00", "09:05", "of3 lane0"}, {"09:05", "09:10", "of3 lane1"}, {"09:10", "09:30", "of3 lane2"}, {"09:15", "09:20", "of3 lane0"},
		{"10:00", "11:05", "of2 lane0"}, {"11:05", "12:00", "of2 lane1"}, {"12:00", "12:15", ""}} {
		all = append(all, booking.Booking{ID: m[0], Start: at(m[0]), End: at(m[1]), State: booking.Booked})
		want[m[0]] = m[2]
	}
	for _, m := range someDay("07:00", all...).Meetings {
		if m.Lane != want[m.ID] {
			t.Errorf("that of %s is %q, want %q", m.ID, m.Lane, want[m.ID])
		}
	}
}

// TestAMeetingOfOneRowCanBeReadAndPressed: a row has room for a button of 24 px and the gap below it.
func TestAMeetingOfOneRowCanBeReadAndPressed(t *testing.T) {
	css, _ := web.FindAsset(web.AssetName("console.css"))
	row := regexp.MustCompile(`[.]day{[^}]*grid-auto-rows:([0-9]+)px`).FindSubmatch(css.Plain)
	if row == nil {
		t.Fatal("the stylesheet has no rows of a day")
	}
	if high, _ := strconv.Atoi(string(row[1])); high < 25 {
		t.Errorf("a row has %d px", high)
	}
}
