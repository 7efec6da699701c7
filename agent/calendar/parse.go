package calendar

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

const (
	maxBytes       = 32 << 20 // of one calendar; 10 000 events with long descriptions are 20 MiB
	maxEvents      = 50_000   // components of one calendar
	maxOccurrences = 20_000   // in the window that was asked for
	maxProblems    = 50       // named one by one
)

// What a calendar as a whole can be refused for.
var (
	ErrNotCalendar = errors.New("this is not a calendar; check that the address is the calendar's iCalendar (.ics) address")
	ErrTooLarge    = errors.New("the calendar is too large")
	ErrCutOff      = errors.New("the calendar stops in the middle; nothing of it was taken over")
)

// parse reads an iCalendar body (RFC 5545) and returns the occurrences that touch [from, to), sorted by start;
// floating and all-day times are of loc (nil: UTC). Transparent and cancelled events are left out. The problems, at
// most 51, name what could not be understood, event by event, and do not sink the rest. The error is ErrNotCalendar,
// ErrTooLarge (over 50 000 events or 20 000 occurrences) or ErrCutOff.
func parse(body []byte, loc *time.Location, from, to time.Time) (Result, error) {
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	if loc == nil {
		loc = time.UTC
	}
	var said problems
	x := &expansion{from: from, to: to, floating: located{loc}, said: &said}
	if loc == time.UTC {
		x.floating = utc
	}
	names, err := x.readZones(body)
	if err != nil {
		return Result{}, err
	}
	all, order, err := x.readEvents(body, names)
	if err != nil {
		return Result{}, err
	}
	for _, uid := range order {
		x.run(all[uid])
		if x.full {
			return Result{}, fmt.Errorf("%w: more than %d occurrences from %s to %s", ErrTooLarge,
				maxOccurrences, from.Format(time.DateOnly), to.Format(time.DateOnly))
		}
	}
	slices.SortStableFunc(x.found, func(a, b Occurrence) int {
		if c := a.Start.Compare(b.Start); c != 0 {
			return c
		}
		return strings.Compare(a.UID, b.UID)
	})
	return Result{Occurrences: x.found, Problems: said.list(), Unread: slices.Sorted(maps.Keys(said.unread)), Named: order}, nil
}

// readZones collects the VTIMEZONEs first, because events may come before them.
func (x *expansion) readZones(body []byte) (*zones, error) {
	names := &zones{
		fallback: x.floating,
		defined:  map[string]*block{},
		known:    map[string]zone{},
		problem:  x.said.add,
	}
	// Two years more than the window, for the offsets around its end.
	until := x.to.UTC().AddDate(2, 0, 0)
	names.build = func(b *block) (zone, error) { return x.buildZone(b, until) }
	err := scan(body, "VTIMEZONE", x.said.add, func(b *block) error {
		id := textOf(b, "TZID")
		if id == "" || names.defined[id] != nil || len(names.defined) >= maxZones {
			return nil
		}
		held := *b
		held.lines = slices.Clone(b.lines)
		names.defined[id] = &held
		return nil
	})
	return names, err
}

func (x *expansion) readEvents(body []byte, names *zones) (map[string]*series, []string, error) {
	all, order, n := map[string]*series{}, []string(nil), 0
	r := &reader{zones: names, said: x.said}
	s := scanner{want: "VEVENT", problem: x.said.add, emit: func(b *block) error {
		if n++; n > maxEvents {
			return fmt.Errorf("%w: more than %d events", ErrTooLarge, maxEvents)
		}
		if ev := r.event(b); ev != nil {
			order = x.add(all, order, ev)
		}
		return nil
	}, endless: func(b *block) { x.said.lost(r.draft(b).uid) }}
	err := s.scan(body)
	return all, order, err
}

// notCalendar says what a body that does not begin with a calendar looks like.
func notCalendar(line []byte) error {
	switch line = bytes.TrimSpace(line); {
	case len(line) == 0:
		return fmt.Errorf("%w (it is empty)", ErrNotCalendar)
	case line[0] == '<':
		return fmt.Errorf("%w (it is a web page, perhaps one to sign in)", ErrNotCalendar)
	case line[0] == '{' || line[0] == '[':
		return fmt.Errorf("%w (it is JSON)", ErrNotCalendar)
	}
	return ErrNotCalendar
}

// problems collects messages, and counts those beyond the bound.
type problems struct {
	said   []string
	more   int
	unread map[string]bool // UIDs of events of which a part was left out
}

func (p *problems) add(text string) {
	if slices.Contains(p.said, text) {
		return
	}
	if len(p.said) >= maxProblems {
		p.more++
		return
	}
	p.said = append(p.said, text)
}

func (p *problems) event(uid, text string) { p.add("event " + quote(uid) + ": " + text) }

// lost notes that an event is there although not all of it could be read.
func (p *problems) lost(uid string) {
	if p.unread == nil {
		p.unread = map[string]bool{}
	}
	p.unread[uid] = true
}

func (p *problems) list() []string {
	if p.more > 0 {
		return append(p.said, fmt.Sprintf("and %d more", p.more))
	}
	return p.said
}
