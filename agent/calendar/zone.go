package calendar

import (
	"fmt"
	"sort"
	"strings"
	"time"
	_ "time/tzdata" // a small system has no zones of its own
)

// zone says how far local time is ahead of UTC at an instant.
type zone interface {
	offset(at time.Time) time.Duration
}

// located is a zone of the IANA database.
type located struct{ *time.Location }

func (l located) offset(at time.Time) time.Duration {
	_, seconds := at.In(l.Location).Zone()
	return time.Duration(seconds) * time.Second
}

var utc = located{time.UTC}

// observed is a zone that a VTIMEZONE defines: its changes in order, and the
// offset before the first.
type observed struct {
	before  time.Duration
	changes []change
}

type change struct {
	at     time.Time
	offset time.Duration
}

func (o *observed) offset(at time.Time) time.Duration {
	i := sort.Search(len(o.changes), func(i int) bool { return o.changes[i].at.After(at) })
	if i == 0 {
		return o.before
	}
	return o.changes[i-1].offset
}

// instant reads a wall clock, whose digits wall carries in UTC. A time that a
// change skips takes the offset from before the change, one that happens twice
// is the first (RFC 5545, 3.3.5); time.Date promises neither.
func instant(z zone, wall time.Time) time.Time {
	if z == utc {
		return wall
	}
	before := z.offset(wall.Add(-26 * time.Hour))
	at := wall.Add(-before)
	if z.offset(at) == before {
		return at
	}
	after := z.offset(wall.Add(26 * time.Hour))
	if late := wall.Add(-after); z.offset(late) == after {
		return late
	}
	return at
}

// wallClock is the inverse of instant: local digits, carried in UTC.
func wallClock(z zone, at time.Time) time.Time {
	return at.UTC().Add(z.offset(at))
}

// zones resolves the TZID names of one calendar.
type zones struct {
	fallback zone // the room's: floating and all-day times, unknown names
	defined  map[string]*block
	known    map[string]zone
	build    func(*block) (zone, error) // of a VTIMEZONE
	problem  func(string)
}

// find never fails: an unknown name is a problem once and the room's zone.
func (s *zones) find(tzid string) zone {
	tzid = strings.Trim(strings.TrimSpace(tzid), `"`)
	if z, ok := s.known[tzid]; ok {
		return z
	}
	if len(s.known) >= maxZones { // each unknown name costs a look at the disk
		s.problem(fmt.Sprintf("there are more than %d time zones; the rest are taken as the room's zone", maxZones))
		return s.fallback
	}
	z := s.resolve(tzid)
	s.known[tzid] = z
	return z
}

func (s *zones) resolve(tzid string) zone {
	if z := namedZone(tzid); z != nil {
		return z
	}
	if b := s.defined[tzid]; b != nil {
		z, err := s.build(b)
		if err == nil {
			return z
		}
		s.problem("time zone " + quote(tzid) + ": " + err.Error() + "; taken as the room's zone")
		return s.fallback
	}
	if z := displayZone(tzid); z != nil {
		return z
	}
	s.problem("time zone " + quote(tzid) + " is not known; taken as the room's zone")
	return s.fallback
}

// namedZone finds a name that is known without the file: IANA, Windows, or
// IANA behind a vendor's path (/freeassociation.sourceforge.net/Europe/Oslo).
func namedZone(tzid string) zone {
	switch name := strings.ToLower(tzid); name {
	case "":
		return nil
	case "utc", "gmt", "z", "etc/utc":
		return utc
	default:
		if iana, ok := windowsZones[name]; ok {
			return loadZone(iana)
		}
	}
	if z := loadZone(tzid); z != nil {
		return z
	}
	if !strings.HasPrefix(tzid, "/") {
		return nil
	}
	parts := strings.Split(tzid, "/")
	for n := 3; n >= 2; n-- { // America/Indiana/Knox before Indiana/Knox
		if len(parts) > n {
			if z := loadZone(strings.Join(parts[len(parts)-n:], "/")); z != nil {
				return z
			}
		}
	}
	return nil
}

func loadZone(name string) zone {
	// "Local" would be the gateway's own zone, which no calendar can mean.
	if name == "" || name == "Local" || len(name) > 64 {
		return nil
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil
	}
	return located{loc}
}
