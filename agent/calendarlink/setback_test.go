package calendarlink

import (
	"testing"
	"time"

	"roomgate/agent/booking"
)

// TestSettledByAClockThatWasAhead: what time alone has settled, by a clock that was set back since, is booked again. What people
// settled stays.
func TestSettledByAClockThatWasAhead(t *testing.T) {
	end := func(at time.Time) func(booking.Booking) (booking.Booking, error) {
		return func(b booking.Booking) (booking.Booking, error) { return b.EndNow(at) }
	}
	for name, c := range map[string]struct {
		over func(booking.Booking) (booking.Booking, error)
		now  time.Time // as the clock is right
		want []string
	}{
		"ended":                     {end(at(10, 0)), at(8, 30), []string{"a 09:00-10:00 ended", "a 09:00-10:00 booked"}},
		"ended, while it is":        {end(at(10, 0)), at(9, 20), []string{"a 09:00-10:00 ended", "a 09:00-10:00 booked"}},
		"ended, and little is left": {end(at(10, 0)), at(9, 57), []string{"a 09:00-10:00 ended"}},
		"ended by people":           {end(at(9, 30)), at(8, 30), []string{"a 09:00-09:30 ended"}},
		"released": {func(b booking.Booking) (booking.Booking, error) { return b.ReleaseNow("nobody came", at(9, 10)), nil },
			at(8, 30), []string{"a 09:00-10:00 released", "a 09:00-10:00 booked"}},
		"cancelled": {func(b booking.Booking) (booking.Booking, error) { return b.Cancel(at(9, 10)) }, at(8, 30), []string{"a 09:00-10:00 cancelled"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			a := meeting("a", at(9, 0), at(10, 0))
			d.read(at(8, 0), nil, a)
			d.change(ID("room", "a"), c.over)
			for range 2 {
				d.read(c.now, nil, a)
				d.want("set back", c.want...)
			}
		})
	}
}
