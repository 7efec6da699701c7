package calendar

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

const (
	day       = 24 * time.Hour
	maxLength = 10 * 366 * day // of one use of a room; longer is a mistake
)

// moment is a DATE or DATE-TIME as written: local digits and their zone.
type moment struct {
	wall time.Time // digits, carried in UTC; midnight for a date
	zone zone
	date bool
	// floats says that it was written without a zone, so that zone is the room's.
	floats bool
}

func (m moment) instant() time.Time { return instant(m.zone, m.wall) }

// at is another wall clock of the same kind.
func (m moment) at(wall time.Time) moment {
	m.wall = wall
	return m
}

// parseMoment reads YYYYMMDD, YYYYMMDDTHHMMSS or the latter with Z (RFC 5545,
// 3.3.4 and 3.3.5). Dates are of the zone floating, times without Z of local.
func parseMoment(s string, local, floating zone) (moment, error) {
	s = strings.ToUpper(strings.TrimSpace(s))
	bad := func() (moment, error) {
		return moment{}, fmt.Errorf("%q is not a date or time such as 20260131T093000Z", clip(s))
	}
	if len(s) < 8 {
		return bad()
	}
	date, ok := digits(s[:8])
	rest := s[8:]
	if !ok || !validDate(date) {
		return bad()
	}
	wall := time.Date(date/10000, time.Month(date/100%100), date%100, 0, 0, 0, 0, time.UTC)
	if rest == "" || rest == "Z" { // a date has no zone, but some write one
		return moment{wall: wall, zone: floating, date: true}, nil
	}
	zulu := strings.HasSuffix(rest, "Z")
	rest = strings.TrimSuffix(rest, "Z")
	if len(rest) != 7 || rest[0] != 'T' {
		return bad()
	}
	clock, ok := digits(rest[1:])
	h, min, sec := clock/10000, clock/100%100, clock%100
	if !ok || h > 23 || min > 59 || sec > 60 {
		return bad()
	}
	if sec == 60 { // a leap second is the one before, as systems without one do (3.3.12)
		sec = 59
	}
	wall = wall.Add(time.Duration(h)*time.Hour + time.Duration(min)*time.Minute + time.Duration(sec)*time.Second)
	if zulu {
		local = utc
	}
	return moment{wall: wall, zone: local}, nil
}

// validDate is false for the 31st of June and for the year 0.
func validDate(n int) bool {
	y, m, d := n/10000, n/100%100, n%100
	if y < 1 || m < 1 || m > 12 || d < 1 {
		return false
	}
	return d <= time.Date(y, time.Month(m)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// digits reads an unsigned number without a sign or spaces, at most 9 digits.
func digits(s string) (int, bool) {
	if s == "" || len(s) > 9 {
		return 0, false
	}
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, true
}

// length is how long an occurrence lasts: days on the wall clock, then time
// that passes.
type length struct {
	days int
	rest time.Duration
}

func (l length) end(start moment) time.Time {
	if l.days == 0 {
		return start.instant().Add(l.rest)
	}
	return start.at(start.wall.AddDate(0, 0, l.days)).instant().Add(l.rest)
}

// approximate is l for search windows.
func (l length) approximate() time.Duration {
	return time.Duration(l.days)*day + l.rest
}

// tooManyDays is more than an event may last.
const tooManyDays = 3661

var errLength = errors.New("it lasts longer than ten years")

// parseDuration reads a DURATION (RFC 5545, 3.3.6) that is not negative.
func parseDuration(s string) (length, error) {
	s = strings.ToUpper(strings.TrimSpace(s))
	bad := fmt.Errorf("%q is not a duration such as PT1H30M", clip(s))
	rest, ok := strings.CutPrefix(strings.TrimPrefix(s, "+"), "P")
	if !ok || rest == "" {
		return length{}, bad
	}
	var l length
	clock := false
	for rest != "" {
		if rest[0] == 'T' && !clock {
			clock, rest = true, rest[1:]
			continue
		}
		i := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
		if i < 1 {
			return length{}, bad
		}
		n, ok := digits(rest[:i])
		if !ok || !l.add(n, rest[i], clock) {
			return length{}, bad
		}
		rest = rest[i+1:]
		if l.days >= tooManyDays || l.rest > maxLength {
			return length{}, errLength
		}
	}
	return l, nil
}

func (l *length) add(n int, unit byte, clock bool) bool {
	units := map[byte]time.Duration{'H': time.Hour, 'M': time.Minute, 'S': time.Second}
	switch {
	case unit == 'W' && !clock:
		l.days += 7 * min(n, tooManyDays) // words may have 32 bits
	case unit == 'D' && !clock:
		l.days += min(n, tooManyDays)
	case clock && units[unit] > 0 && time.Duration(n) <= maxLength/units[unit]:
		l.rest += time.Duration(n) * units[unit]
	default:
		return false
	}
	return true
}

// clip shortens what a message repeats of a file.
func clip(s string) string {
	n := 0
	for i := range s {
		if n++; n > 60 {
			s = s[:i] + "..."
			break
		}
	}
	return strings.ToValidUTF8(s, "?")
}

func quote(s string) string { return fmt.Sprintf("%q", clip(s)) }
