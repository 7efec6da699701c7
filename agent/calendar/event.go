package calendar

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"roomgate/agent/printable"
)

const (
	maxTitle = 1024 // bytes
	maxDates = 5000 // of RDATE and EXDATE each, in one event
	maxRules = 10   // in one event; RFC 5545 has one

	maxAllDates = 200_000 // of RDATE and EXDATE in one calendar
)

// event is one VEVENT: a series, a single event, or a changed occurrence.
type event struct {
	uid       string
	start     moment
	length    length
	rules     []string
	extra     []period // RDATE
	except    []moment // EXDATE
	replaces  *moment  // RECURRENCE-ID
	onward    bool     // RANGE=THISANDFUTURE
	title     string
	cancelled bool
	free      bool // takes no room: TRANSP:TRANSPARENT
	private   bool
	allDay    bool
	organizer Person
	sequence  int
	stamp     string // LAST-MODIFIED or DTSTAMP; UTC, so it sorts as text
}

// period is an RDATE; length is nil unless it brings its own.
type period struct {
	start  moment
	length *length
}

func (e *event) recurs() bool { return len(e.rules) > 0 || len(e.extra) > 0 }

// newer reports whether e replaces o, which has the same identity.
func (e *event) newer(o *event) bool {
	if e.sequence != o.sequence {
		return e.sequence > o.sequence
	}
	return e.stamp >= o.stamp
}

// reader builds the events of one calendar.
type reader struct {
	zones    *zones
	said     *problems
	allDates int
}

// draft is what one VEVENT says before DTSTART and DTEND are weighed against
// each other.
type draft struct {
	event
	end      *moment
	duration *length
	transp   string
	busy     string
	modified string
	err      error
	notes    []string // faults that the event survives
	lessened bool     // one of them costs occurrences
}

// event reads a block; nil means that it was a problem.
func (r *reader) event(b *block) *event {
	d := r.draft(b)
	if d.err == nil {
		d.err = d.settle()
	}
	if d.err != nil || d.lessened {
		r.said.lost(d.uid)
	}
	if d.err != nil {
		r.said.event(d.uid, d.err.Error()+"; the event was left out")
		return nil
	}
	for _, note := range d.notes {
		r.said.event(d.uid, note)
	}
	d.cancelled = d.cancelled || b.method == "CANCEL"
	d.free = d.transp == "TRANSPARENT" || d.transp == "" && d.busy == "FREE"
	if d.modified != "" {
		d.stamp = d.modified
	}
	return &d.event
}

// draft reads the lines of a block.
func (r *reader) draft(b *block) *draft {
	d := &draft{}
	for _, line := range b.lines {
		p, err := readProperty(line)
		if err == nil {
			err = r.property(d, p)
		}
		if err != nil {
			d.fail(strings.ToLower(nameOf(line)), err)
		}
	}
	if b.cut != "" {
		d.fail(strings.ToLower(b.cut), fmt.Errorf("the line is longer than %d bytes", maxLine))
	}
	if d.uid == "" {
		d.uid = madeUID(&d.event)
	}
	return d
}

// fail takes a fault: the event cannot live with one in its time or identity.
// With another it stays, because a room that is used must not look free.
func (d *draft) fail(field string, err error) {
	err = fmt.Errorf("%s: %w", field, err)
	switch field {
	case "dtstart", "dtend", "duration", "recurrence-id", "uid":
		if d.err == nil {
			d.err = err
		}
	default:
		d.lessened = d.lessened || field == "rrule" || field == "rdate" || field == ""
		if len(d.notes) < 5 {
			d.notes = append(d.notes, err.Error())
		}
	}
}

func (r *reader) property(d *draft, p property) error {
	var err error
	switch p.name {
	case "DTSTART":
		d.start, err = r.moment(p, p.value)
	case "DTEND":
		var m moment
		m, err = r.moment(p, p.value)
		d.end = &m
	case "DURATION":
		var l length
		l, err = parseDuration(p.value)
		d.duration = &l
	case "RECURRENCE-ID":
		var m moment
		m, err = r.moment(p, p.value)
		d.replaces, d.onward = &m, strings.EqualFold(p.param("RANGE"), "THISANDFUTURE")
	case "RRULE":
		if len(d.rules) == maxRules {
			return fmt.Errorf("more than %d in one event", maxRules)
		}
		d.rules = append(d.rules, p.value)
	case "EXRULE":
		err = errors.New("it is not supported (RFC 5545 has no such property); the dates that it takes out stay")
	case "RDATE":
		err = r.dates(p, len(d.extra), func(v period) { d.extra = append(d.extra, v) })
	case "EXDATE":
		err = r.dates(p, len(d.except), func(v period) { d.except = append(d.except, v.start) })
	default:
		d.text(p)
	}
	return err
}

func (d *draft) text(p property) {
	value := p.text()
	upper := func() string { return strings.ToUpper(clip(value)) }
	switch p.name {
	case "UID":
		d.uid = strings.ToValidUTF8(value, "?")
	case "SUMMARY":
		d.title = title(value)
	case "STATUS":
		d.cancelled = slices.Contains([]string{"CANCELLED", "CANCELED"}, upper())
	case "TRANSP":
		d.transp = upper()
	case "X-MICROSOFT-CDO-BUSYSTATUS":
		d.busy = upper()
	case "X-MICROSOFT-CDO-ALLDAYEVENT":
		d.allDay = upper() == "TRUE"
	case "CLASS":
		d.private = slices.Contains([]string{"PRIVATE", "CONFIDENTIAL"}, upper())
	case "SEQUENCE":
		d.sequence, _ = digits(value)
	case "DTSTAMP":
		d.stamp = upper()
	case "LAST-MODIFIED":
		d.modified = upper()
	case "ORGANIZER":
		d.organizer = organizer(p)
	}
}

func organizer(p property) Person {
	who := Person{Name: title(strings.TrimSpace(caret.Replace(p.param("CN"))))}
	if len(p.value) > 7 && strings.EqualFold(p.value[:7], "mailto:") {
		who.Email = title(strings.TrimSpace(p.value[7:]))
	}
	return who
}

// moment reads a value with the parameters TZID and VALUE of its property.
func (r *reader) moment(p property, value string) (moment, error) {
	value = strings.TrimSpace(value)
	if strings.EqualFold(p.param("VALUE"), "DATE") && len(value) > 8 {
		value = value[:8]
	}
	local := r.zones.fallback
	if tzid := p.param("TZID"); tzid != "" && len(value) > 8 {
		local = r.zones.find(tzid)
	}
	m, err := parseMoment(value, local, r.zones.fallback)
	m.floats = p.param("TZID") == "" && !m.date && !strings.HasSuffix(strings.ToUpper(value), "Z")
	return m, err
}

// dates reads the list of an RDATE or EXDATE: dates, times, or periods.
func (r *reader) dates(p property, have int, add func(period)) error {
	for _, v := range strings.Split(p.value, ",") {
		if strings.TrimSpace(v) == "" { // Outlook leaves a comma at the end
			continue
		}
		have++
		r.allDates++
		switch {
		case have > maxDates:
			return fmt.Errorf("more than %d dates", maxDates)
		case r.allDates > maxAllDates:
			return fmt.Errorf("more than %d dates in the calendar", maxAllDates)
		}
		first, second, isPeriod := strings.Cut(v, "/")
		start, err := r.moment(p, first)
		if err != nil {
			return err
		}
		item := period{start: start}
		if isPeriod {
			l, err := r.periodLength(p, start, second)
			if err != nil {
				return err
			}
			item.length = &l
		}
		add(item)
	}
	return nil
}

func (r *reader) periodLength(p property, start moment, s string) (length, error) {
	if s = strings.TrimSpace(s); strings.HasPrefix(strings.ToUpper(s), "P") {
		return parseDuration(s)
	}
	end, err := r.moment(p, s)
	if err != nil {
		return length{}, err
	}
	return lengthBetween(start, end)
}

// settle weighs what the event says about its time.
func (d *draft) settle() error {
	if d.start.zone == nil {
		return errors.New("dtstart is missing")
	}
	d.allDay = d.allDay || d.start.date
	d.anchor()
	var err error
	switch {
	case d.end != nil:
		d.length, err = lengthBetween(d.start, *d.end)
		if err != nil {
			return fmt.Errorf("dtend: %w", err)
		}
	case d.duration != nil:
		d.length = *d.duration
	}
	// DTEND equal to DTSTART is how some programs write one day (3.6.1).
	if d.start.date && d.length == (length{}) {
		d.length.days = 1
	}
	return nil
}

// anchor lends the zone of the start to times without one: who writes them so
// means that zone, or it is the same.
func (d *draft) anchor() {
	lend := func(m *moment) {
		if m.floats && !d.start.date {
			m.zone = d.start.zone
		}
	}
	if d.end != nil {
		lend(d.end)
	}
	for i := range d.extra {
		lend(&d.extra[i].start)
	}
	for i := range d.except {
		lend(&d.except[i])
	}
}

var errEnd = errors.New("it is before the start")

// lengthBetween counts days between dates and passed time between times.
func lengthBetween(start, end moment) (length, error) {
	if start.date && end.date {
		// Whole days, however far the years are apart: Sub would saturate.
		n := (end.wall.Unix() - start.wall.Unix()) / 86400
		switch {
		case n < 0:
			return length{}, errEnd
		case n > 3660:
			return length{}, errLength
		}
		return length{days: int(n)}, nil
	}
	a, b := start.instant(), end.instant()
	if !b.After(a) && end.zone == start.zone && end.wall.After(start.wall) {
		// It starts in the hour that a clock change skips and ends after it.
		b = a.Add(end.wall.Sub(start.wall))
	}
	switch {
	case b.Before(a):
		return length{}, errEnd
	case b.After(a.Add(maxLength)):
		return length{}, errLength
	}
	return length{rest: b.Sub(a)}, nil
}

// title makes text of a file fit to show: valid, without control characters,
// and not endless.
func title(s string) string {
	s = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && printable.Hidden(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if len(s) <= maxTitle {
		return s
	}
	n := maxTitle
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// madeUID names an event that has no UID by when it is: it must be the same at
// the next fetch.
func madeUID(e *event) string {
	text := escapeText.Replace(e.title)
	if len(text) > 64 {
		text = strings.ToValidUTF8(text[:64], "")
	}
	return "no-uid-" + e.start.wall.Format("20060102T150405") + "-" + strings.ReplaceAll(text, " ", "-")
}

// touches reports whether [start, end) has a part in [from, to).
func touches(start, end, from, to time.Time) bool {
	return start.Before(to) && end.After(from) && end.After(start)
}
