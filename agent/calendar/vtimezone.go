package calendar

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	maxZones   = 200  // definitions, and names, that one calendar may hold
	maxChanges = 4000 // changes of one definition, 50 years of a monthly one and more
)

// firstChange bounds how far back definitions are worked out: Outlook's begin
// in 1601, and no booking is older.
var firstChange = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)

// buildZone works out a VTIMEZONE's changes up to the instant until.
func (e *expander) buildZone(b *block, until time.Time) (zone, error) {
	if name := textOf(b, "X-LIC-LOCATION"); name != "" {
		if z := loadZone(name); z != nil {
			return z, nil
		}
	}
	o := &observed{}
	first := time.Time{}
	for _, inner := range b.inner {
		if inner.name != "STANDARD" && inner.name != "DAYLIGHT" {
			continue
		}
		from, changes, err := e.observance(inner, until)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", strings.ToLower(inner.name), err)
		}
		if len(changes) > 0 && (first.IsZero() || changes[0].at.Before(first)) {
			first, o.before = changes[0].at, from
		}
		o.changes = append(o.changes, changes...)
		if len(o.changes) > maxChanges {
			return nil, errors.New("it has too many changes")
		}
	}
	if len(o.changes) == 0 {
		return nil, errors.New("its definition has no standard or daylight time")
	}
	slices.SortStableFunc(o.changes, func(a, b change) int { return a.at.Compare(b.at) })
	return o, nil
}

// observance lists when one STANDARD or DAYLIGHT begins, in order.
func (e *expander) observance(b *block, until time.Time) (from time.Duration, changes []change, err error) {
	var to time.Duration
	var starts []time.Time
	ev := event{}
	for _, line := range b.lines {
		p, err := readProperty(line)
		if err != nil {
			continue
		}
		switch p.name {
		case "TZOFFSETFROM":
			from, err = parseOffset(p.value)
		case "TZOFFSETTO":
			to, err = parseOffset(p.value)
		case "DTSTART":
			ev.start, err = parseMoment(p.value, utc, utc)
		case "RRULE":
			ev.rules = append(ev.rules, p.value)
		case "RDATE":
			for _, v := range strings.Split(p.value, ",") {
				m, err := parseMoment(v, utc, utc)
				if err != nil || len(starts) == maxChanges {
					return 0, nil, fmt.Errorf("rdate: %q cannot be read", clip(v))
				}
				starts = append(starts, m.wall)
			}
		}
		if err != nil {
			return 0, nil, fmt.Errorf("%s: %w", strings.ToLower(p.name), err)
		}
	}
	if ev.start.zone == nil {
		return 0, nil, errors.New("dtstart is missing")
	}
	starts = append(starts, ev.start.wall)
	for _, rule := range ev.rules {
		// UNTIL is an instant in UTC, the rest is the wall clock before the change.
		walls, err := e.walls(rule, moment{wall: ev.start.wall, zone: &observed{before: from}}, firstChange, until)
		if err != nil {
			return 0, nil, fmt.Errorf("rrule: %w", err)
		}
		starts = append(starts, walls...)
	}
	slices.SortFunc(starts, time.Time.Compare)
	for _, s := range starts {
		changes = append(changes, change{at: s.Add(-from), offset: to})
	}
	return from, changes, nil
}

// textOf is the first value of a property in a block.
func textOf(b *block, name string) string {
	for _, line := range b.lines {
		if nameOf(line) == name {
			if p, err := readProperty(line); err == nil {
				return p.text()
			}
		}
	}
	return ""
}

// parseOffset reads +HHMM or +HHMMSS (RFC 5545, 3.3.14).
func parseOffset(s string) (time.Duration, error) {
	s = strings.TrimSpace(s)
	bad := fmt.Errorf("%q is not an offset such as +0100", clip(s))
	if len(s) != 5 && len(s) != 7 || s[0] != '+' && s[0] != '-' {
		return 0, bad
	}
	n, ok := digits(s[1:])
	if !ok {
		return 0, bad
	}
	if len(s) == 5 {
		n *= 100
	}
	d := time.Duration(n/10000)*time.Hour + time.Duration(n/100%100)*time.Minute + time.Duration(n%100)*time.Second
	if d > 24*time.Hour {
		return 0, bad
	}
	if s[0] == '-' {
		d = -d
	}
	return d, nil
}
