package console

import (
	"slices"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/plot"
	"roomgate/agent/site"
	"roomgate/agent/web"
	"roomgate/drivers"
)

// space is one meeting space: how it is, its day, its devices.
func space() Section {
	return Section{Name: "space", Title: "Meeting space", Hidden: true, Parts: []string{"now", "day", "devices", "plots"}, View: viewSpace,
		Panels: map[string]func(*Look) (any, error){"control": viewControl, "book": viewBook, "booking": viewBooking}}
}

// proofEvery is how often the page of a space shows how old what it knows is.
const proofEvery = 5 * time.Second

// Space is what the page shows.
type Space struct {
	Card     SpaceCard
	Controls bool // who looks may command devices
	Accepts  bool // who looks may prove the room
	Day      Day
	Devices  []DeviceCard
	Plots    plot.Day
}

// Heading is the name of the space.
func (v Space) Heading() string { return v.Card.Name }

// DeviceCard is a device with what it says of itself and what was last done to it.
type DeviceCard struct {
	ID, SpaceID, Type, Name string
	Enabled                 bool
	Readings                []Proof
	Last                    string // the last command with its receipt; empty: none since the start
	LastBad                 bool
	Can                     bool // it takes commands
	Picture                 *Picture
}

// Proof is a value with what says so.
type Proof struct {
	Name, Value string
	Source, Ago string
	Offline     bool
	Why         string // it is offline
	Bad         bool   // it is out of its range
}

// Picture is the last one of a camera, or of what a display shows.
type Picture struct{ Path, At string }

// pictureOf is that of a device; nil: it takes none. It has no time before there is one.
func pictureOf(d *device.Device, zone *time.Location) *Picture {
	var p Picture
	switch d.Type {
	case drivers.TypeCamera:
		p.Path = "/devices/" + d.SpaceID + "/snapshot"
	case drivers.TypeDisplay:
		p.Path = "/meetingspace/" + d.SpaceID + "/screenshot"
	default:
		return nil
	}
	if _, at, ok := d.Picture(); ok {
		p.At = at.In(zone).Format("15:04:05")
	}
	return &p
}

func viewSpace(l *Look) (any, time.Time, error) {
	s, err := l.space()
	if err != nil {
		return nil, time.Time{}, err
	}
	v := Space{Card: l.spaceCard(s), Controls: l.Role() >= Operator, Accepts: l.Role() == System}
	if v.Day, err = l.day(s); err != nil {
		return nil, time.Time{}, err
	}
	for _, d := range s.Devices {
		v.Devices = append(v.Devices, deviceCard(d, time.Now(), s.Room.Terms().Zone))
	}
	v.Plots, err = l.plots(s, v.Day.date)
	return v, time.Now().Add(proofEvery), err
}

// space is the one that the query names.
func (l *Look) space() (*site.Space, error) {
	id := l.Query.Get("id")
	if !l.sees(id) {
		id = ""
	}
	return l.o.Agent.Site.Space(id)
}

func deviceCard(d *device.Device, now time.Time, zone *time.Location) DeviceCard {
	c := DeviceCard{ID: d.ID, SpaceID: d.SpaceID, Type: d.Type, Name: typeWords[d.Type], Enabled: d.Live().Enabled, Picture: pictureOf(d, zone)}
	for _, r := range told(d.Type, d.Readings()) {
		c.Readings = append(c.Readings, proofOf(r, now))
	}
	description := d.Describe()
	c.Can = len(description.Actions) > 0
	for _, sub := range description.Subs {
		c.Can = c.Can || len(sub.Actions) > 0
	}
	if last := d.Last(); last != nil {
		c.Last, c.LastBad = receiptText(last, zone), last.Receipt.State == device.Failed || last.Receipt.State == device.Rejected
	}
	return c
}

// told are the readings of a device of which something is to be said: a hub has no value of
// its own, and what is behind one that is gone is gone with it.
func told(deviceType string, all []device.Reading) []device.Reading {
	gone := slices.IndexFunc(all, func(r device.Reading) bool { return r.SubDevice == "" && r.Offline() })
	return slices.DeleteFunc(slices.Clone(all), func(r device.Reading) bool {
		if r.SubDevice == "" {
			return deviceType == drivers.TypeO3 && !r.Offline()
		}
		return gone >= 0 && r.Offline() && r.Reason == all[gone].Reason
	})
}

// proofOf is a reading with what says so, and how old that is.
func proofOf(r device.Reading, now time.Time) Proof {
	p := Proof{Name: r.SubDevice, Value: valueOf(r), Source: r.Source, Offline: r.Offline(), Why: r.Reason,
		Bad: r.Status == device.High || r.Status == device.Low}
	if p.Value == "" && !p.Offline {
		p.Value = r.Status
	}
	if !r.ObservedAt.IsZero() {
		p.Ago = web.Age(now.Sub(r.ObservedAt))
	}
	return p
}

// receiptText says what the last command to a device was, and its outcome.
func receiptText(last *device.Stored, zone *time.Location) string {
	c, r := last.Command, last.Receipt
	text := joined(" ", c.SubDevice, c.Action) + " " + string(r.State)
	if e := r.Evidence; e != nil && e.Value != "" {
		text += ", read back as " + joined(" by ", worded(c.DeviceType, e.Value, nil), e.Source)
	}
	if !r.FinishedAt.IsZero() {
		text += " in " + age(r.FinishedAt.Sub(r.ReceivedAt))
	}
	return joined(", ", text, r.Reason, "at "+r.ReceivedAt.In(zone).Format("15:04:05")+" via "+c.Via)
}
