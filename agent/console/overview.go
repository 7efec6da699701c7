package console

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/device"
	"roomgate/agent/schedule"
	"roomgate/agent/site"
	"roomgate/agent/web"
	"roomgate/drivers"
)

// overview is the building at a glance: what is wrong first.
func overview() Section {
	return Section{Name: "overview", Title: "Overview", Parts: []string{"wrong", "spaces", "gateway"}, View: viewOverview}
}

// Overview is what it shows. People who do not manage the building see neither the
// problems of the gateway nor its state.
type Overview struct {
	System   bool
	Examined string // when the gateway was; empty: it goes on, or nobody does
	Stale    string // how long ago, if nobody has looked since; it is examined again just now
	Wrong    []Finding
	Spaces   []SpaceCard
	Gateway  []Fact
}

// Fact is something of the gateway, in a word and with what it means.
type Fact struct {
	Name, Value, More string
	Bad               bool
}

// SpaceCard is a meeting space in few words.
type SpaceCard struct {
	ID, Name, Place string
	State           string // free, reserved, busy or disabled
	Word, Until     string
	Climate         []string // temperature and who is there
	Devices         []Chip
}

// Chip is a device in a word.
type Chip struct {
	Name, Value string
	Offline     bool
	Why         string // it is offline
	Failed      bool   // to do what it was told last
}

// stateWords are the states of a space, as its classes and as people read them.
var stateWords = map[booking.Status][2]string{
	booking.Available: {"free", "Free"}, booking.Reserved: {"reserved", "Reserved"},
	booking.Occupied: {"busy", "Busy"}, booking.Disabled: {"disabled", "Out of use"},
}

// staleAfter is from which age on an examination may be of another day's building: while somebody
// looks there is a new one every two minutes.
const staleAfter = 5 * time.Minute

func viewOverview(l *Look) (any, time.Time, error) {
	v, until := Overview{System: l.Role() == System}, nextMinute(l.o.Agent.Now())
	for _, s := range l.spaces() {
		v.Spaces = append(v.Spaces, l.spaceCard(s))
	}
	if v.System {
		all, err := l.troubles()
		if err != nil {
			return nil, until, err
		}
		if l.o.Findings != nil {
			since := l.outages.since(l.offline(), time.Now())
			f := l.o.Findings(since)
			all = append(all, f.All...)
			if !f.At.IsZero() && l.trusted() {
				v.Examined = f.At.In(l.zone()).Format("15:04")
			}
			if age := time.Since(f.At); !f.At.IsZero() && age > staleAfter {
				v.Stale = web.Age(age)
			}
			if f.At.Before(since) || v.Stale != "" {
				until = time.Now().Add(time.Second) // it is examined just now
			}
		}
		v.Wrong = gravest(all, l.zone())
		if !l.trusted() {
			v.Wrong = slices.Insert(slices.DeleteFunc(v.Wrong, func(f Finding) bool { return f.Name == "clock" }), 0, Finding{Name: "clock", State: "fail", Seen: clockTrouble, Fix: clockFix})
		}
		v.Gateway = l.facts()
	}
	return v, until, nil
}

// stamp is a time as the terminal has it.
var stamp = regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})`)

// gravest are the findings that are not in order, the gravest first, with times of the zone.
func gravest(all []Finding, zone *time.Location) []Finding {
	all = slices.DeleteFunc(slices.Clone(all), func(f Finding) bool { return f.State == "ok" })
	for i := range all {
		all[i] = remedied(all[i])
		all[i].Seen = stamp.ReplaceAllStringFunc(all[i].Seen, func(text string) string {
			at, err := time.Parse(time.RFC3339, text)
			if err != nil {
				return text
			}
			return at.In(zone).Format("2 Jan 2006 15:04")
		})
	}
	slices.SortStableFunc(all, func(a, b Finding) int { return strings.Compare(a.State, b.State) }) // fail, warn
	return all
}

// spaces are those that who looks sees.
func (l *Look) spaces() (all []*site.Space) {
	for _, s := range l.o.Agent.Site.Spaces() {
		if l.sees(s.ID) {
			all = append(all, s)
		}
	}
	return all
}

// sees says whether who looks sees a space.
func (l *Look) sees(spaceID string) bool {
	organization, err := l.o.Agent.Site.OrganizationOf(spaceID)
	return err == nil && l.Who.Sees(organization) && (l.Who.SpaceID == "" || l.Who.SpaceID == spaceID)
}

// nextMinute is when a page that shows minutes is another.
func nextMinute(now time.Time) time.Time {
	return time.Now().Add(now.Truncate(time.Minute).Add(time.Minute).Sub(now))
}

func (l *Look) spaceCard(s *site.Space) SpaceCard {
	now, config := l.o.Agent.Now(), s.Room.Config()
	sign := s.Room.At(now)
	c := SpaceCard{ID: s.ID, Name: s.Name, Place: joined(", ", config.Room, config.IndoorLocation),
		State: stateWords[sign.Status][0], Word: stateWords[sign.Status][1]}
	local := now.In(s.Room.Terms().Zone)
	switch b := sign.Current; {
	case !l.trusted():
	case b != nil:
		c.Until = "until " + clockText(b.End, local)
	case sign.Status == booking.Available && !sign.AvailableUntil.IsZero():
		c.Until = "until " + clockText(sign.AvailableUntil, local)
	}
	for _, d := range s.Devices {
		r, _ := d.Reading("")
		last := d.Last()
		c.Devices = append(c.Devices, Chip{Name: typeWords[d.Type], Value: valueOf(r), Offline: r.Offline(), Why: r.Reason, Failed: last != nil && last.Receipt.State == device.Failed})
		if t, ok := d.Reading(drivers.SubTemperature); ok && !t.Offline() && t.Value != "" {
			c.Climate = append(c.Climate, t.Value+" °C")
		}
	}
	if p := s.Presence(); p.Value != schedule.Unknown {
		c.Climate = append(c.Climate, p.Value)
	}
	return c
}

// typeWords are the device types for people.
var typeWords = map[string]string{
	drivers.TypeLock: "Door", drivers.TypeCamera: "Camera", drivers.TypeLight: "Light", drivers.TypeFan: "Fan",
	drivers.TypeO3: "Room sensor", drivers.TypeDisplay: "Display",
}

// joined is what is known, one after the other.
func joined(between string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return strings.TrimSpace(p) == "" }), between)
}

// valueOf is a reading for people.
func valueOf(r device.Reading) string {
	if r.SubDevice == drivers.SubTemperature && r.Value != "" {
		return r.Value + " °C"
	}
	return worded(r.DeviceType, r.Value, r.Details)
}

// worded is the value of a device for people: of a door it is its bolt's, and its leaf may stand
// open all the same.
func worded(deviceType, value string, details map[string]any) string {
	if deviceType != drivers.TypeLock || value == "" {
		return value
	}
	leaf, _ := details["door"].(string)
	return joined(", ", cmp.Or(lockWords[value], value), lockWords[leaf])
}

// lockWords are what bolt and leaf of a door say, as the page at the door has it.
var lockWords = map[string]string{"ajar": "door open", "shut": "door shut", drivers.Open: "unlocked", drivers.Closed: "locked"}

// outFor is how long something is away, in words.
func outFor(d time.Duration) string { return "away for " + web.Length(d.Truncate(time.Minute)) }

// zone is that of the building: of the first space that who looks sees.
func (l *Look) zone() *time.Location {
	if all := l.spaces(); len(all) > 0 {
		return all[0].Room.Terms().Zone
	}
	return time.UTC
}

// trusted says whether the gateway knows what time it is: no page shows the time of a clock that
// may be wrong, or books by it.
func (l *Look) trusted() bool { return l.o.Agent.Health.Clock().Trusted }
