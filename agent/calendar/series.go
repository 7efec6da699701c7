package calendar

import (
	"errors"
	"slices"
	"sort"
	"time"
)

// series is what a calendar says under one UID.
type series struct {
	master  *event
	changed []*event // with RECURRENCE-ID
}

// expansion is the work of one parse.
type expansion struct {
	expander
	from, to time.Time
	floating zone
	said     *problems
	found    []Occurrence
	full     bool // there is more than maxOccurrences
}

// add puts an event under its UID. Of two with the same identity the newer
// revision counts (RFC 5546, 2.1.5).
func (x *expansion) add(all map[string]*series, order []string, ev *event) []string {
	s := all[ev.uid]
	if s == nil {
		s = &series{}
		all[ev.uid] = s
		order = append(order, ev.uid)
	}
	switch {
	case ev.replaces != nil:
		s.changed = append(s.changed, ev)
	case s.master == nil:
		s.master = ev
	default:
		if s.master.start.wall != ev.start.wall {
			x.said.event(ev.uid, "it is there twice with different times; the newer one counts")
		}
		if ev.newer(s.master) {
			s.master = ev
		}
	}
	return order
}

// original is the instant that a RECURRENCE-ID or EXDATE speaks of. Programs
// write dates where the series has times, and midnight where it has dates.
func (x *expansion) original(s *series, m moment) time.Time {
	if s.master == nil || s.master.start.date == m.date {
		return m.instant()
	}
	start := s.master.start
	if start.date {
		wall := m.wall
		if m.zone == utc {
			wall = wallClock(start.zone, m.wall)
		}
		return start.at(wall.Truncate(day)).instant()
	}
	return start.at(m.wall.Add(start.wall.Sub(start.wall.Truncate(day)))).instant()
}

// run lists what the series puts into the window.
func (x *expansion) run(s *series) {
	except := map[time.Time]bool{}
	if s.master != nil {
		for _, m := range s.master.except {
			except[x.original(s, m)] = true
		}
	}
	changed, onward := x.changes(s)
	if m := s.master; m != nil && !m.cancelled {
		for _, o := range x.originals(m, onward) {
			at := o.start.instant()
			if except[at] || changed[at] != nil {
				continue
			}
			x.emit(m, onward, o, at)
		}
	}
	for _, ev := range s.changed {
		at := x.original(s, *ev.replaces)
		if except[at] || changed[at] != ev || s.called(ev) {
			continue
		}
		x.put(ev, at, ev.start.instant(), ev.length.end(ev.start))
	}
}

// called reports whether the cancellation of the whole series is newer than
// the changed occurrence.
func (s *series) called(ev *event) bool {
	return s.master != nil && s.master.cancelled && ev.sequence <= s.master.sequence
}

// onwards is a change of an occurrence and all that follow it.
type onwards struct {
	at    time.Time
	event *event
	shift time.Duration // of the wall clock in the event's zone
}

// changes indexes the changed occurrences by the instant that they replace.
func (x *expansion) changes(s *series) (map[time.Time]*event, []onwards) {
	changed := make(map[time.Time]*event, len(s.changed))
	for _, ev := range s.changed {
		at := x.original(s, *ev.replaces)
		if old := changed[at]; old == nil || ev.newer(old) {
			changed[at] = ev
		}
	}
	var list []onwards
	for at, ev := range changed {
		if ev.onward {
			list = append(list, onwards{at: at, event: ev, shift: ev.start.wall.Sub(wallClock(ev.start.zone, at))})
		}
	}
	slices.SortFunc(list, func(a, b onwards) int { return a.at.Compare(b.at) })
	return changed, list
}

// originals lists the starts of a series that may reach into the window,
// before exceptions and changes.
func (x *expansion) originals(m *event, onward []onwards) []period {
	if !m.recurs() {
		return []period{{start: m.start}}
	}
	margin, longest := time.Duration(0), m.length.approximate()
	for _, o := range onward {
		margin = max(margin, o.shift.Abs())
		longest = max(longest, o.event.length.approximate())
	}
	lower, upper := x.from.Add(-longest-margin-2*day).UTC(), x.to.Add(margin+2*day).UTC()
	var list []period
	for _, text := range m.rules {
		walls, err := x.walls(text, m.start, lower, upper)
		if errors.Is(err, errMany) {
			x.full = true
		} else if err != nil {
			x.said.event(m.uid, "rrule: "+err.Error()+"; only the first occurrence counts")
			x.said.lost(m.uid)
			walls = []time.Time{m.start.wall} // what is certain
		}
		for _, w := range walls {
			list = append(list, period{start: m.start.at(w)})
		}
	}
	if len(m.rules) == 0 {
		list = append(list, period{start: m.start})
	}
	list = append(list, m.extra...)
	return distinct(list)
}

// distinct drops what rules and dates name twice; a period with a length of
// its own says more than a start.
func distinct(list []period) []period {
	seen := make(map[time.Time]int, len(list))
	out := list[:0:0]
	for _, p := range list {
		at := p.start.instant()
		if i, ok := seen[at]; ok {
			if p.length != nil {
				out[i] = p
			}
			continue
		}
		seen[at] = len(out)
		out = append(out, p)
	}
	return out
}

// emit puts one original occurrence, as a change from there on may have it.
func (x *expansion) emit(m *event, onward []onwards, o period, at time.Time) {
	ev, start := m, o.start
	if i := sort.Search(len(onward), func(i int) bool { return onward[i].at.After(at) }); i > 0 {
		last := onward[i-1]
		ev = last.event
		start = ev.start.at(wallClock(ev.start.zone, at).Add(last.shift))
	}
	l := ev.length
	if o.length != nil && ev == m {
		l = *o.length
	}
	id := time.Time{}
	if m.recurs() {
		id = at
	}
	x.put(ev, id, start.instant(), l.end(start))
}

func (x *expansion) put(ev *event, id, start, end time.Time) {
	if ev.cancelled || ev.free || !touches(start, end, x.from, x.to) {
		return
	}
	if len(x.found) == maxOccurrences {
		x.full = true
		return
	}
	x.found = append(x.found, Occurrence{
		UID: ev.uid, Recurrence: id.UTC(), Start: start.UTC(), End: end.UTC(),
		Title: ev.title, Private: ev.private, Organizer: ev.organizer,
		AllDay: ev.allDay, Sequence: ev.sequence,
	})
}
