package booking

import (
	"strings"
	"time"
)

// MadeAtDoor begins the ids of bookings that were made at a door.
const MadeAtDoor = "door-"

// doorPause is for how long a space is free between two bookings that were made at its door
// and do not count as one.
const doorPause = 15 * time.Minute

// AtDoor judges a booking that somebody makes at the door, whom nobody knows: it has the
// limits of a walk-up, but may begin later on the day of now at the space. What goes on with
// others that were made there, of all the bookings of the space, is no longer together. It
// says start_time or end_time where it refuses, or that it is too early.
func (r Rules) AtDoor(b Booking, now time.Time, all []Booking) error {
	y, m, d := now.In(r.Zone).Date()
	if by, bm, bd := b.Start.In(r.Zone).Date(); by != y || bm != m || bd != d {
		return invalid("start_time", "is not today: at the door a room is booked for today, book other days in the calendar")
	}
	if length := b.End.Sub(b.Start); length > r.WalkUp {
		return r.tooLong(length)
	}
	if run := doorRun(b, all); run > r.WalkUp {
		return notNow("the room would be taken at its door for %s on end: at most %s, and then it is free for %s", short(run), short(r.WalkUp), short(doorPause))
	}
	return nil
}

// ExtendAtDoor judges the end that somebody at the door wants for a meeting: however often
// it is extended there, a walk-up is no longer than a walk-up may be, together with those
// that it goes on with, and another meeting goes on for no longer than that after its
// planned end. It says end_time where it refuses.
func (r Rules) ExtendAtDoor(b Booking, until time.Time, all []Booking) error {
	if b.madeAtDoor() {
		b.End = until
		if run := doorRun(b, all); run > r.WalkUp {
			return r.tooLong(run)
		}
		return nil
	}
	planned := b.End
	if !b.PlannedEnd.IsZero() {
		planned = b.PlannedEnd
	}
	if more := until.Sub(planned); more > r.WalkUp {
		return invalid("end_time", "is %s after the planned end: at the door a meeting goes on for at most %s", short(more), short(r.WalkUp))
	}
	return nil
}

func (b Booking) madeAtDoor() bool { return b.Source == WalkUp || strings.HasPrefix(b.ID, MadeAtDoor) }

// doorRun is how long a space is taken by b and by what was made at its door shortly before
// and after, so that many short walk-ups are no way to keep a space for the day.
func doorRun(b Booking, all []Booking) time.Duration {
	start, end := b.Start, b.End
	for grows := true; grows; {
		grows = false
		for _, o := range all {
			took := o.Live() || o.State == Ended
			if o.ID == b.ID || !took || !o.madeAtDoor() || !o.Start.Before(end.Add(doorPause)) || !start.Before(o.End.Add(doorPause)) {
				continue
			}
			if o.Start.Before(start) {
				start, grows = o.Start, true
			}
			if o.End.After(end) {
				end, grows = o.End, true
			}
		}
	}
	return end.Sub(start)
}

// DoorLeft is how long somebody at the door can book a space from now on, as far as what was
// made there before goes; less than the shortest booking: not yet.
func (r Rules) DoorLeft(now time.Time, all []Booking) time.Duration {
	return r.WalkUp - doorRun(Booking{Start: now, End: now}, all)
}
