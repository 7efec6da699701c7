package schedule

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"roomgate/agent/booking"
)

// second is a time on the day of which ics speaks.
func second(hour, minute int) time.Time { return time.Date(2000, 1, 2, hour, minute, 0, 0, time.UTC) }

// move moves the booking of a title to the hour from then on.
func (f *guided) move(title string, start time.Time) {
	f.t.Helper()
	end := start.Add(time.Hour)
	if _, err := f.Change(f.t.Context(), f.the(title).ID, booking.Edit{Start: &start, End: &end}, Caller{}); err != nil {
		f.t.Fatal(err)
	}
}

// reads lets the calendar be read now.
func (f *guided) reads() {
	f.Room(room).link.relinked.Wake()
	f.wait(time.Second)
}

// TestARoomWhoseMeetingWasHeldEarlierIsTaken: people hold the meeting of the
// evening in the morning, while the calendar cannot be read or is read. It has
// the meeting in the evening still, so the room is not free then.
func TestARoomWhoseMeetingWasHeldEarlierIsTaken(t *testing.T) {
	for name, read := range map[string]bool{"read meanwhile": true, "not read meanwhile": false} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				evening := ics("early 20 180")
				f := startGuided(t, evening)
				f.until(second(8, 50))
				if !read {
					f.site.show(http.StatusServiceUnavailable, "")
					f.restart() // without what was read last
				}
				held := f.the("early").ID
				f.move("early", second(9, 0))
				if _, err := f.CheckIn(t.Context(), held, Caller{}); err != nil {
					t.Fatal(err)
				}
				if f.wait(16 * time.Minute); read {
					f.wantPlan("people are there", "early 20 booked", "early 9 checked_in")
				} else {
					f.wantPlan("people are there", "early 9 checked_in")
				}
				f.until(second(10, 1))
				f.site.show(http.StatusOK, evening)
				f.reads()
				f.wantPlan("it is over", "early 20 booked", "early 9 ended")
				f.restart()
				f.wait(16 * time.Minute)
				f.wantPlan("and after a power cut", "early 20 booked", "early 9 ended")
			})
		})
	}
}

// TestWhatACalendarSaidOfASettledMeetingIsNoNews: the calendar follows what
// people did with a meeting, and then they settle it. What the calendar said
// before they did brings it back no more, and another time does.
func TestWhatACalendarSaidOfASettledMeetingIsNoNews(t *testing.T) {
	for name, c := range map[string]struct {
		at     time.Time
		do     func(f *guided) error
		says   string
		settle func(f *guided, id string) (booking.Booking, error)
		want   string
	}{
		"moved here, then there, then cancelled": {second(8, 0),
			func(f *guided) error { f.move("early", second(11, 0)); return nil }, ics("early 11 60"),
			func(f *guided, id string) (booking.Booking, error) { return f.Cancel(f.t.Context(), id, Caller{}) },
			"early 11 cancelled"},
		"shortened there while people are in the room, then ended": {second(9, 0),
			func(f *guided) error { _, err := f.CheckIn(f.t.Context(), f.the("early").ID, Caller{}); return err }, ics("early 9 30"),
			func(f *guided, id string) (booking.Booking, error) { return f.End(f.t.Context(), id, Caller{}) },
			"early 9 ended"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				f := startGuided(t, ics("early 9 60"))
				f.until(c.at)
				id := f.the("early").ID
				if err := c.do(f); err != nil {
					t.Fatal(err)
				}
				f.site.show(http.StatusOK, c.says)
				f.reads()
				if _, err := c.settle(f, id); err != nil {
					t.Fatal(err)
				}
				for range 2 {
					f.reads()
					f.wantPlan("said again", c.want)
					f.restart()
				}
				f.shows(ics("early 14 60"))
				f.wantPlan("moved by the calendar", slices.Sorted(slices.Values([]string{c.want, "early 14 booked"}))...)
			})
		})
	}
}
