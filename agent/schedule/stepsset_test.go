package schedule

import (
	"testing"
	"time"

	"roomgate/agent/booking"
)

// TestClockSetForwardDuringAMeeting: a clock that is some hours ahead for a few minutes ends no meeting; one that stays so
// ends it, at its own time.
func TestClockSetForwardDuringAMeeting(t *testing.T) {
	for name, back := range map[string]bool{"it goes back": true, "it stays": false} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := startRig(t, rigOptions{yaml: planned})
				r.book("held", on(9, 0), on(10, 0))
				r.book("next", on(10, 0), on(11, 0))
				r.until(on(8, 55))
				if _, err := r.CheckIn(t.Context(), "held", Caller{}); err != nil {
					t.Fatal(err)
				}
				r.until(on(9, 10))
				jump := func(by time.Duration, status booking.Status) {
					t.Helper()
					r.clock.Jump(by)
					r.ClockMoved()
					r.wait(9 * time.Minute)
					if s, err := r.State(room); err != nil || s.Status != status {
						t.Errorf("with the clock %v ahead the sign says %+v, %v", by, s, err)
					}
				}
				jump(6*time.Hour, booking.Available)
				if got := r.booking("held").State; got != booking.CheckedIn {
					t.Errorf("six hours ahead the meeting is %s", got)
				}
				if back {
					jump(0, booking.Occupied)
					r.until(on(9, 59))
				}
				r.wait(2 * time.Minute)
				if b := r.booking("held"); b.State != booking.Ended || !b.EndedAt.Equal(on(10, 0)) || !b.End.Equal(on(10, 0)) {
					t.Errorf("in the end the meeting is %+v", b)
				}
				if got := r.booking("next").State; back && got != booking.Booked {
					t.Errorf("the next one is %s", got)
				}
				r.wantStored()
			})
		})
	}
}
