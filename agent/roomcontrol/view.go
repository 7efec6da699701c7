package roomcontrol

import (
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/clock"
	"roomgate/agent/schedule"
)

// view is a room at one moment, as all that follows its schedule sees it.
type view struct {
	now             time.Time
	first           bool // of this run of the process: what came before is not known
	trusted         bool // the clock is
	unsignedAllowed bool // a word of the cloud that is not signed may let somebody in
	rules           booking.Rules
	state           booking.SpaceState
	// presence is schedule.Occupied, Vacant or, also for what nobody has seen lately,
	// Unknown; since is when it became so, or when we started.
	presence string
	since    time.Time
}

// look takes a view. Lengths of time are taken between two of them, so a clock
// that is set changes none.
func (c *control) look(now time.Time) view {
	if seen := c.Presence(); seen != c.presence {
		c.presence, c.since = seen, now
	}
	v := view{now: now, first: !c.looked, trusted: c.Clock.Trust() == clock.Trusted,
		unsignedAllowed: c.UnsignedAllowed(), rules: c.Room.Rules(), state: c.Room.At(now), presence: c.presence, since: c.since}
	v.rules.Awake = c.Clock.Steady()
	c.looked = true
	return v
}

// checkedIn are the meetings of now, and of next, who have checked in.
func (v view) checkedIn() (all []*booking.Booking) {
	for _, b := range []*booking.Booking{v.state.Current, v.state.Next} {
		if b != nil && b.State == booking.CheckedIn {
			all = append(all, b)
		}
	}
	return all
}

// here is the meeting whose people are here: it has checked in, also ahead of
// its start. Where nobody has to check in it is the current one, unless the
// room is seen empty.
func (v view) here() *booking.Booking {
	if all := v.checkedIn(); len(all) > 0 {
		return all[0]
	}
	if !v.rules.CheckIn && v.presence != schedule.Vacant {
		return v.state.Current
	}
	return nil
}

// latest is the last of some moments.
func latest(all ...time.Time) (last time.Time) {
	for _, t := range all {
		if t.After(last) {
			last = t
		}
	}
	return last
}
