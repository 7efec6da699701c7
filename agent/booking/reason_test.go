package booking

import (
	"testing"
	"time"
)

// A reason is stored in UTC and read in the zone of the space, also where the day is
// another one there.
func TestReasonIn(t *testing.T) {
	zone := func(name string) *time.Location {
		z, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		return z
	}
	yielded := meeting(Booked)
	yielded.yield(Interval{at(11, 0), at(12, 0)})
	night := meeting(Booked)
	night.yield(Interval{at(22, 30), at(25, 0)})
	cut := meeting(CheckedIn).cut(at(11, 0))
	other := meeting(Cancelled)
	other.Reason = "see 2026-99-99 10:00 UTC"
	for _, c := range []struct {
		b    Booking
		zone string
		want string
	}{
		{yielded, "UTC", "another booking has the right to the room: Mon 2 Mar 11:00 to 12:00"},
		{yielded, "Europe/Berlin", "another booking has the right to the room: Mon 2 Mar 12:00 to 13:00"},
		{yielded, "Asia/Kathmandu", "another booking has the right to the room: Mon 2 Mar 16:45 to 17:45"},
		{yielded, "Pacific/Auckland", "another booking has the right to the room: Tue 3 Mar 00:00 to 01:00"},
		{night, "UTC", "another booking has the right to the room: Mon 2 Mar 22:30 to Tue 3 Mar 01:00"},
		{night, "Asia/Kolkata", "another booking has the right to the room: Tue 3 Mar 04:00 to 06:30"},
		{cut, "Europe/Berlin", "another meeting is in the room from Mon 2 Mar 12:00 on"},
		{other, "Europe/Berlin", "see 2026-99-99 10:00 UTC"},
		{meeting(Booked), "Europe/Berlin", ""},
	} {
		if got := c.b.ReasonIn(zone(c.zone)); got != c.want {
			t.Errorf("%s: %q, want %q", c.zone, got, c.want)
		}
	}
}
