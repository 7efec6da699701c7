package booking

import (
	"fmt"
	"strings"
	"time"

	"roomgate/agent/problem"
)

// Rules are what a meeting space allows.
type Rules struct {
	Zone    *time.Location
	Slot    time.Duration // starts and ends lie on this grid of the local day
	Minimum time.Duration // the shortest booking
	Longest time.Duration // the longest booking
	WalkUp  time.Duration // the longest walk-up
	Horizon time.Duration // how far ahead may be booked

	// AllowCurrent lets the running slot be booked, and walk-ups in.
	AllowCurrent bool
	Hours        Week // when the space is open; empty: around the clock

	// CheckIn says that who booked has to show up: from Opens before the start;
	// Warn after it the room reminds, Release after it the time is given back.
	CheckIn              bool
	Opens, Warn, Release time.Duration
	// Awake is since when people can check in, as the gateway runs and its clock
	// was not set. People have all the time from then to show up. Zero: always.
	Awake time.Time
	// Empty after a check-in for so long, the rest is given back; 0: never.
	Empty time.Duration
}

// Default are the rules of a space whose configuration says nothing.
func Default() Rules {
	return Rules{Zone: time.UTC, Slot: 15 * time.Minute, Minimum: 5 * time.Minute, Longest: 24 * time.Hour,
		WalkUp: 2 * time.Hour, Horizon: 180 * 24 * time.Hour, AllowCurrent: true,
		CheckIn: true, Opens: 10 * time.Minute, Warn: 8 * time.Minute, Release: 10 * time.Minute}
}

// times judges the interval of a new or moved booking.
func (r Rules) times(b Booking, now time.Time) error {
	switch length := b.End.Sub(b.Start); {
	case b.Start.IsZero():
		return invalid("start_time", "is missing")
	case b.End.IsZero():
		return invalid("end_time", "is missing")
	case length == 0:
		return invalid("end_time", "is the start_time: want at least %s", short(r.Minimum))
	case length < 0:
		return invalid("end_time", "is before start_time")
	case length < r.Minimum:
		return invalid("end_time", "leaves %s: want at least %s", short(length), short(r.Minimum))
	case b.Source == WalkUp && length > r.WalkUp:
		return r.tooLong(length)
	case b.Start.After(now.Add(r.Horizon)):
		return invalid("start_time", "is too far ahead: at most %d days", int(r.Horizon.Hours()/24))
	}
	if err := r.lengths(b); err != nil {
		return err
	}
	if err := r.current(b, now); err != nil {
		return err
	}
	if b.Source != WalkUp {
		if err := r.onGrid(b); err != nil {
			return err
		}
	}
	return r.open(b)
}

func (r Rules) tooLong(length time.Duration) error {
	return invalid("end_time", "makes the walk-up %s long: at most %s", short(length), short(r.WalkUp))
}

// lengths judges the length of a booking, also of one that was prolonged.
func (r Rules) lengths(b Booking) error {
	length := b.End.Sub(b.Start)
	if length <= r.Longest || r.beginsDay(b.Start) && r.beginsDay(b.End) && r.onClocks(b) <= r.Longest {
		return nil
	}
	return invalid("end_time", "makes it %s long: at most %s", short(length), short(r.Longest))
}

// beginsDay says that a day at the space begins at t.
func (r Rules) beginsDay(t time.Time) bool {
	return t.In(r.Zone).Day() != t.Add(-time.Nanosecond).In(r.Zone).Day()
}

// onClocks is how long a booking is by the clocks at the space: a day on which
// they are set back has 24 hours there, and takes 25.
func (r Rules) onClocks(b Booking) time.Duration {
	_, before := b.Start.In(r.Zone).Zone()
	_, after := b.End.In(r.Zone).Zone()
	return b.End.Sub(b.Start) + time.Duration(after-before)*time.Second
}

// ahead is how far in the future a walk-up may begin: anybody who asks may have a
// clock that is fast. It is checked in at once, so it cannot be for later.
const ahead = time.Minute

// current judges a start that is not ahead; of a walk-up, one that is.
func (r Rules) current(b Booking, now time.Time) error {
	switch {
	case b.Source == WalkUp && b.Start.After(now.Add(ahead)):
		return invalid("start_time", "is ahead: a walk-up begins now, leave it out")
	case b.Source != WalkUp && b.Start.After(now):
		return nil
	case !r.AllowCurrent:
		return invalid("start_time", "is not ahead, and the space takes no bookings for the current time")
	case now.Sub(b.Start) >= max(r.Slot, time.Minute):
		return invalid("start_time", "is past: the current slot can be booked, none before it")
	case !b.End.After(now):
		return invalid("end_time", "is past")
	}
	return nil
}

// onGrid wants both ends on the slots of the local day, as its clocks show it.
func (r Rules) onGrid(b Booking) error {
	slot := max(int(r.Slot.Minutes()), 1)
	for _, f := range []struct {
		name string
		at   time.Time
	}{{"start_time", b.Start}, {"end_time", b.End}} {
		local := f.at.In(r.Zone)
		minute := local.Hour()*60 + local.Minute()
		if off := minute % slot; off != 0 || local.Second() != 0 || local.Nanosecond() != 0 {
			return invalid(f.name, "is %s there, off the grid of %d min: %s or %s fits", wall(local),
				slot, hourMinute(minute-off), hourMinute(minute-off+slot))
		}
	}
	return nil
}

// wall writes what a clock shows, with the seconds if there are any.
func wall(t time.Time) string {
	if t.Second() == 0 {
		return t.Format("15:04")
	}
	return t.Format("15:04:05")
}

// hourMinute writes a minute of the day; the one after the last is midnight.
func hourMinute(minute int) string {
	minute = min(minute, 24*60) % (24 * 60)
	return fmt.Sprintf("%02d:%02d", minute/60, minute%60)
}

// open judges whether the space is open for all of the booking.
func (r Rules) open(b Booking) error {
	closed, ok := r.Hours.closed(b.Start, b.End, r.Zone)
	switch {
	case !ok:
		return nil
	case closed.Equal(b.Start):
		return invalid("start_time", "is outside the opening hours: the space is closed at %s", r.clock(closed))
	}
	return invalid("end_time", "is outside the opening hours: the space closes at %s", r.clock(closed))
}

// openUntil judges the time from was until end, by which a meeting is
// prolonged. Time that was granted is not judged again.
func (r Rules) openUntil(was, end time.Time) error {
	if closed, ok := r.Hours.closed(was, end, r.Zone); ok {
		return invalid("end_time", "is outside the opening hours: the space closes at %s", r.clock(closed))
	}
	return nil
}

// clock writes a time as the clocks at the space show it.
func (r Rules) clock(t time.Time) string { return t.In(r.Zone).Format("Mon 2 Jan 15:04") }

// short writes a duration as people say it, to the second.
func short(d time.Duration) string {
	var parts []string
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}} {
		if n := d / unit.length; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, unit.name))
			d -= n * unit.length
		}
	}
	if parts == nil {
		return "0 min"
	}
	return strings.Join(parts, " ")
}

// stamp writes a time for a message whose reader may be anywhere.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// span writes an interval likewise.
func span(from, until time.Time) string {
	from, until = from.UTC(), until.UTC()
	if from.YearDay() == until.YearDay() && from.Year() == until.Year() {
		return from.Format("2006-01-02 15:04 to ") + until.Format("15:04 UTC")
	}
	return from.Format("2006-01-02 15:04 to ") + stamp(until)
}

func invalid(field, format string, args ...any) error {
	return problem.New(problem.Invalid, field, format, args...)
}

func notNow(format string, args ...any) error {
	return problem.New(problem.NotNow, "", format, args...)
}
