package booking

import "time"

// Status is the state of a space in one word.
type Status string

// The states of a space.
const (
	Available Status = "available" // free for anybody who comes
	Reserved  Status = "reserved"  // booked, or about to be; nobody has checked in
	Occupied  Status = "occupied"  // a meeting is under way
	Disabled  Status = "disabled"  // closed, or taken out of use
)

// Hold is a state that somebody has set for a time, over what the bookings
// say.
type Hold struct {
	ID     string    `json:"id"`
	Status Status    `json:"status"`
	From   time.Time `json:"from"`
	Until  time.Time `json:"until,omitzero"` // zero: until it is lifted
	Note   string    `json:"note,omitempty"`
}

// covers says whether the hold is in force at t.
func (h Hold) covers(t time.Time) bool {
	return !t.Before(h.From) && (h.Until.IsZero() || t.Before(h.Until))
}

// Overlaps says whether the hold and the interval share a moment.
func (h Hold) Overlaps(start, end time.Time) bool {
	return h.From.Before(end) && (h.Until.IsZero() || start.Before(h.Until))
}

// SpaceState is the state of a space at one moment.
type SpaceState struct {
	Status        Status
	Current, Next *Booking
	// AvailableUntil is when the space is taken next, if it is available now;
	// zero: not within the horizon, or not available.
	AvailableUntil time.Time
	// NextAvailable is when the space is free next, now if it is; zero: not
	// within the horizon.
	NextAvailable time.Time
	// Until is when this changes by itself at the latest; zero: never.
	Until time.Time
}

// StateAt reads the state of a space at t. Holds are few, bookings may be many.
func (r Rules) StateAt(t time.Time, s *Schedule, holds []Hold) SpaceState {
	g := SpaceState{}
	g.Current, g.Next = s.Now(t)
	g.Status = r.status(t, g, holds)
	g.NextAvailable = r.nextFree(t, s, holds)
	if g.Status == Available {
		g.NextAvailable = t
		g.AvailableUntil = r.freeUntil(t, g.Next, holds)
	}
	g.Until = r.until(t, g, holds)
	return g
}

func (r Rules) status(t time.Time, g SpaceState, holds []Hold) Status {
	if h, ok := inForce(t, holds); ok {
		return h.Status
	}
	switch {
	case g.Current != nil && (g.Current.State == CheckedIn || !r.CheckIn):
		return Occupied
	case g.Current != nil:
		return Reserved
	case g.Next != nil && g.Next.State == CheckedIn && g.Next.Start.Sub(t) <= r.Opens:
		return Occupied // they came early
	}
	if _, closed := r.Hours.closed(t, t.Add(1), r.Zone); closed {
		return Disabled
	}
	if g.Next != nil && g.Next.Start.Sub(t) <= r.Opens {
		return Reserved
	}
	return Available
}

// inForce is the first hold that covers t.
func inForce(t time.Time, holds []Hold) (Hold, bool) {
	for _, h := range holds {
		if h.covers(t) {
			return h, true
		}
	}
	return Hold{}, false
}

// freeUntil is when an available space is taken.
func (r Rules) freeUntil(t time.Time, next *Booking, holds []Hold) time.Time {
	if h, ok := inForce(t, holds); ok {
		return h.Until // somebody has said so
	}
	return r.taken(t, next, holds)
}

// taken is the first of what takes a space after t: the next booking, the night, a hold. Zero: nothing.
func (r Rules) taken(t time.Time, next *Booking, holds []Hold) time.Time {
	end := r.Hours.closes(t, r.Zone)
	if next != nil {
		end = sooner(end, next.Start)
	}
	for _, h := range holds {
		if h.From.After(t) && h.Status != Available {
			end = sooner(end, h.From)
		}
	}
	return end
}

// walkUpLength is how long a walk-up is that says nothing of its end.
const walkUpLength = 30 * time.Minute

// walkUpEnd is the end of a walk-up from start on that names none. What ends the free time ends it, unless less than the
// shortest booking would be left: then the refusal says what is in the way.
func (r Rules) walkUpEnd(start time.Time, next *Booking, holds []Hold) time.Time {
	end := start.Add(min(walkUpLength, r.WalkUp))
	if taken := r.taken(start, next, holds); !taken.Before(start.Add(r.Minimum)) && taken.Before(end) {
		return taken
	}
	return end
}

// nextFree is the first moment from t on at which the shortest booking fits in
// and the state is not yet that of the next meeting.
func (r Rules) nextFree(t time.Time, s *Schedule, holds []Hold) time.Time {
	limit := t.Add(r.Horizon)
	least := max(r.Minimum, r.Opens+1)
	for { // each round passes bookings, a hold or a night
		free, ok := s.gap(t, limit, least)
		if !ok {
			return time.Time{}
		}
		open, ok := r.clear(free, holds)
		switch {
		case !ok:
			return time.Time{}
		case open.Equal(free):
			return free
		}
		t = open
	}
}

// clear returns t if the shortest booking fits in between holds and nights
// then, else a later moment at which it may; false: there is none.
func (r Rules) clear(t time.Time, holds []Hold) (time.Time, bool) {
	for _, h := range holds {
		if h.Status != Available && h.Overlaps(t, t.Add(max(r.Minimum, 1))) {
			return h.Until, !h.Until.IsZero()
		}
	}
	if closed, ok := r.Hours.closed(t, t.Add(max(r.Minimum, 1)), r.Zone); ok {
		return r.Hours.opens(closed, r.Zone)
	}
	return t, true
}

// until is the next moment at which the state may say something else.
func (r Rules) until(t time.Time, g SpaceState, holds []Hold) time.Time {
	var end time.Time
	if g.Current != nil {
		end = sooner(end, g.Current.End)
	}
	if g.Next != nil {
		if opens := g.Next.Start.Add(-r.Opens); opens.After(t) {
			end = sooner(end, opens)
		} else {
			end = sooner(end, g.Next.Start)
		}
	}
	for _, h := range holds {
		for _, at := range []time.Time{h.From, h.Until} {
			if at.After(t) {
				end = sooner(end, at)
			}
		}
	}
	if closes := r.Hours.closes(t, r.Zone); closes.After(t) {
		return sooner(end, closes)
	} else if opens, ok := r.Hours.opens(t, r.Zone); ok && opens.After(t) {
		return sooner(end, opens)
	}
	return end
}
