package agent

import (
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/schedule"
)

// sight is a space at one moment, as all that follows its schedule sees it.
type sight struct {
	now     time.Time
	first   bool // of this run of the process: what came before is not known
	trusted bool // the clock is
	rules   booking.Rules
	sign    booking.Sign
	// presence is schedule.Occupied, Vacant or, also for what nobody has seen lately,
	// Unknown; since is when it became so, or when we started.
	presence string
	since    time.Time
}

// look takes a sight. Lengths of time are taken between two of them, so a clock
// that is set changes none.
func (f *follower) look(now time.Time) sight {
	s := f.space
	if seen := s.presence().Value; seen != f.presence {
		f.presence, f.since = seen, now
	}
	v := sight{now: now, first: !f.looked, trusted: f.agent.clock.Trust() == Trusted,
		rules: s.room.Rules(), sign: s.room.At(now), presence: f.presence, since: f.since}
	v.rules.Awake = f.agent.clock.Steady()
	f.looked = true
	return v
}

// checkedIn are the meetings of now, and of next, who have checked in.
func (v sight) checkedIn() (all []*booking.Booking) {
	for _, b := range []*booking.Booking{v.sign.Current, v.sign.Next} {
		if b != nil && b.State == booking.CheckedIn {
			all = append(all, b)
		}
	}
	return all
}

// here is the meeting whose people are here: it has checked in, also ahead of
// its start. Where nobody has to check in it is the current one, unless the
// room is seen empty.
func (v sight) here() *booking.Booking {
	if all := v.checkedIn(); len(all) > 0 {
		return all[0]
	}
	if !v.rules.CheckIn && v.presence != schedule.Vacant {
		return v.sign.Current
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
