package booking

import "time"

// Step is something that time does to a booking.
type Step string

// The steps, in the order in which they are due.
const (
	Start   Step = "start"   // it begins
	Warn    Step = "warn"    // nobody has checked in, it will be released soon
	Release Step = "release" // nobody has checked in: the time is given back
	End     Step = "end"     // it is over
)

// Marks are the steps that were taken; they are stored with the booking, so
// that a restart or a clock that is set back takes none twice. Release and end
// need none, for they change the state.
type Marks struct {
	Started bool `json:"started,omitempty"`
	Warned  bool `json:"warned,omitempty"`
	// For is the start to which they belong: a meeting that was moved while the
	// link was down begins once more. Zero: to any.
	For time.Time `json:"for,omitzero"`
	// Calendar is when the external calendar last said that the booking is;
	// zero: it is of none, or of a version that did not note it.
	Calendar Interval `json:"calendar,omitzero"`
	// Returned says that the booking came back with its calendar, and that the
	// cloud may not have heard so: a snapshot without it is no decision yet.
	Returned bool `json:"returned,omitempty"`
}

// Took returns the marks of b with one more step.
func (m Marks) Took(s Step, b Booking) Marks {
	m = m.of(b)
	m.For = b.Start
	switch s {
	case Start:
		m.Started = true
	case Warn:
		m.Warned = true
	}
	return m
}

// of are the marks that count for b as it stands.
func (m Marks) of(b Booking) Marks {
	if !m.For.IsZero() && !m.For.Equal(b.Start) {
		return Marks{Calendar: m.Calendar, Returned: m.Returned}
	}
	return m
}

// Due returns the next step of a live booking and when it is to be taken,
// which may be past.
func (b Booking) Due(m Marks, r Rules) (Step, time.Time) {
	m = m.of(b)
	step, at := End, b.End
	take := func(s Step, t time.Time) {
		if t.Before(at) {
			step, at = s, t
		}
	}
	if b.State == Booked && r.CheckIn && r.Release > 0 {
		from := b.graceFrom(r)
		take(Release, from.Add(r.Release))
		if !m.Warned && r.Warn > 0 && r.Warn < r.Release {
			take(Warn, from.Add(r.Warn))
		}
	}
	if !m.Started {
		take(Start, b.Start)
	}
	return step, at
}

// graceFrom is when the time to check in begins to run: who books a meeting
// that has begun has as long as others, and time that nobody lived through, as
// the power was off or the clock was set, is no time to check in.
func (b Booking) graceFrom(r Rules) time.Time {
	from := b.Start
	for _, t := range []time.Time{b.CreatedAt, r.Awake} {
		if t.After(from) {
			from = t
		}
	}
	return from
}

// ReleaseAt is when the time is given back unless somebody checks in; false
// for a booking that is not waited for.
func (b Booking) ReleaseAt(r Rules) (time.Time, bool) {
	if b.State != Booked || !r.CheckIn || r.Release == 0 {
		return time.Time{}, false
	}
	at := b.graceFrom(r).Add(r.Release)
	return at, at.Before(b.End)
}
