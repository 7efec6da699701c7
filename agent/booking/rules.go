package booking

import (
	"fmt"
	"time"
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
	case length > r.Longest:
		return invalid("end_time", "makes it %s long: at most %s", short(length), short(r.Longest))
	case b.Source == WalkUp && length > r.WalkUp:
		return invalid("end_time", "makes the walk-up %s long: at most %s", short(length), short(r.WalkUp))
	case b.Start.After(now.Add(r.Horizon)):
		return invalid("start_time", "is too far ahead: at most %d days", int(r.Horizon.Hours()/24))
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

// current judges a start that is not ahead.
func (r Rules) current(b Booking, now time.Time) error {
	if b.Start.After(now) {
		return nil
	}
	if !r.AllowCurrent {
		return invalid("start_time", "is not ahead, and the space takes no bookings for the current time")
	}
	if now.Sub(b.Start) >= r.Slot {
		return invalid("start_time", "is past: the current slot may be booked, none before it")
	}
	return nil
}

// onGrid wants both ends on the slots of the local day, as its clocks show it.
func (r Rules) onGrid(b Booking) error {
	for _, f := range []struct {
		name string
		at   time.Time
	}{{"start_time", b.Start}, {"end_time", b.End}} {
		local := f.at.In(r.Zone)
		minute := local.Hour()*60 + local.Minute()
		if r.Slot > 0 && minute%int(r.Slot.Minutes()) != 0 || local.Second() != 0 || local.Nanosecond() != 0 {
			return invalid(f.name, "is off the grid of %s: %s", short(r.Slot), local.Format("15:04:05"))
		}
	}
	return nil
}

func (r Rules) open(b Booking) error {
	if closed, ok := r.Hours.closed(b.Start, b.End, r.Zone); ok {
		return invalid("start_time", "is outside the opening hours: closed at %s", closed.In(r.Zone).Format("Mon 15:04"))
	}
	return nil
}

// short writes a duration as people say it.
func short(d time.Duration) string {
	switch {
	case d >= time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%d h", int(d.Hours()))
	case d >= time.Minute || d == 0:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%d s", int(d.Seconds()))
}

// stamp writes a time for a message.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04Z") }
