package schedule

import (
	"testing"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/clock"
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

// TestClockSetForwardBeforeARestart: a meeting is not ended because the gateway is started again, twice, after the clock was
// set past its end. Ten minutes after the last start it is. After a start of the machine nobody can tell that.
func TestClockSetForwardBeforeARestart(t *testing.T) {
	for boot, wait := range map[string]time.Duration{"the same": 10 * time.Minute, "another": 0} {
		t.Run(boot, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				const ahead = 2 * time.Hour
				began, set := time.Now(), time.Duration(0)
				o := rigOptions{dir: t.TempDir(), yaml: planned, machine: clock.Machine{Boot: "the same", Up: func() time.Duration { return time.Since(began) - set }}}
				r := startRig(t, o)
				r.book("held", on(9, 0), on(10, 0))
				r.until(on(8, 55))
				if _, err := r.CheckIn(t.Context(), "held", Caller{}); err != nil {
					t.Fatal(err)
				}
				r.until(on(9, 10))
				r.stop()
				time.Sleep(ahead) // for the machine it is no time
				set, o.machine.Boot = ahead, boot
				for range map[bool]int{true: 2, false: 1}[wait > 0] {
					r = startRig(t, o)
					r.wait(max(wait-time.Minute, 0))
					if got := r.booking("held").State; wait > 0 && got != booking.CheckedIn {
						t.Errorf("after a start the meeting is %s", got)
					}
					if wait > 0 {
						r.stop()
					}
				}
				if wait > 0 {
					r = startRig(t, o)
				}
				r.wait(wait + time.Minute)
				if b := r.booking("held"); b.State != booking.Ended || !b.EndedAt.Equal(on(10, 0)) {
					t.Errorf("in the end the meeting is %+v", b)
				}
				r.wantStored()
			})
		})
	}
}
