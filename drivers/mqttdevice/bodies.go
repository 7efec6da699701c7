package mqttdevice

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"roomgate/drivers"
)

const (
	sourceReport = "report"
	intensity    = "intensity" // in the details
)

// switched is a light or a fan.
type switched struct {
	o    *Options
	peer *peer
}

func (s *switched) dims() bool {
	if s.o.dialect == "shelly" {
		component := s.o.Component
		return strings.HasPrefix(component, "light:") || component == "" && s.o.of == drivers.TypeLight
	}
	return !s.o.OnOff
}

func (s *switched) describe() drivers.Description {
	summary := "set how much of its full strength it has"
	if !s.dims() {
		summary = "switch it off with 0, and on with anything else: it has no levels"
	}
	return drivers.Description{
		Type: s.o.of, Driver: s.o.kind, Summary: title(s.o.of, s.o.dialect),
		Values: []string{drivers.On, drivers.Off},
		Actions: []drivers.Action{
			{Name: drivers.ActOn, Summary: "switch the " + s.o.of + " on"},
			{Name: drivers.ActOff, Summary: "switch the " + s.o.of + " off"},
			{Name: drivers.ActIntensity, Summary: summary, Params: []drivers.Param{
				{Name: drivers.ValueName, Kind: drivers.KindInteger, Unit: "%", Max: 100},
			}},
		},
	}
}

func (s *switched) want(c drivers.Command) []fact {
	n := c.Args.Number(drivers.ValueName)
	switch {
	case c.Sub != "":
		return nil
	case c.Action == drivers.ActOn, c.Action == drivers.ActOff:
		return []fact{powerIs(c.Action == drivers.ActOn)}
	case c.Action == drivers.ActIntensity && n == 0:
		return []fact{powerIs(false)}
	case c.Action == drivers.ActIntensity:
		return []fact{powerIs(true), {name: level, number: n}}
	}
	return nil
}

func (s *switched) statuses(now time.Time) ([]drivers.Status, error) {
	k, err := s.peer.get(power, now)
	if err != nil {
		return nil, err
	}
	details := s.peer.details(now, linkQuality)
	if l, err := s.peer.get(level, now); err == nil && s.dims() {
		if details == nil {
			details = map[string]any{}
		}
		if details[intensity] = int(l.number); k.text == drivers.Off {
			details[intensity] = 0 // devices keep the level for the next time
		}
	}
	return []drivers.Status{{Value: k.text, ObservedAt: k.at, Source: sourceReport, Details: details}}, nil
}

// calm leaves a light or fan as it is: its owner has other switches for it.
func (s *switched) calm() []fact { return nil }

// door is a lock.
type door struct {
	kind, dialect string
	peer          *peer
}

func (d *door) describe() drivers.Description {
	return drivers.Description{
		Type: drivers.TypeLock, Driver: d.kind, Summary: title(drivers.TypeLock, d.dialect),
		Values: []string{drivers.Open, drivers.Closed},
		Actions: []drivers.Action{
			{Name: drivers.ActOpen, Summary: "unlock the door until it is closed, or until the lock itself locks again"},
			{Name: drivers.ActClose, Summary: "lock the door now"},
		},
	}
}

func (d *door) want(c drivers.Command) []fact {
	if c.Sub != "" || c.Action != drivers.ActOpen && c.Action != drivers.ActClose {
		return nil
	}
	return []fact{unlocked(c.Action == drivers.ActOpen)}
}

func (d *door) statuses(now time.Time) ([]drivers.Status, error) {
	k, err := d.peer.get(bolt, now)
	if err != nil {
		return nil, err
	}
	return []drivers.Status{{Value: k.text, ObservedAt: k.at, Source: sourceReport, Details: d.peer.details(now, battery, linkQuality)}}, nil
}

// calm locks, unless the door is known to be locked.
func (d *door) calm() []fact {
	if k, err := d.peer.get(bolt, time.Now()); err == nil && k.text == drivers.Closed {
		return nil
	}
	return []fact{unlocked(false)}
}

// sensors are devices that make up one o3-sensor.
type sensors struct {
	by map[string]*peer // by fact
}

// errNotFitted is the state of a sub-device that the configuration does not
// name hardware for.
var errNotFitted = fmt.Errorf("not fitted: %w", drivers.ErrUnsupported)

func (s *sensors) describe() drivers.Description {
	return drivers.Description{
		Type: drivers.TypeO3, Driver: "o3-room", Summary: "sensors of the room that speak at the room broker",
		Actions: []drivers.Action{},
		Subs: []drivers.SubDevice{
			{Name: drivers.SubTemperature, Summary: "the temperature of the room", Unit: "°C", Actions: []drivers.Action{}},
			{Name: drivers.SubBuzzer, Summary: "not fitted", Values: []string{drivers.On, drivers.Off}, Actions: []drivers.Action{}},
			{
				Name: drivers.SubOccupancy, Summary: "whether somebody is in the room",
				Values: []string{drivers.Occupied, drivers.Vacant}, Actions: []drivers.Action{},
			},
			{Name: drivers.SubRing, Summary: "not fitted", Values: []string{drivers.On, drivers.Off}, Actions: []drivers.Action{}},
		},
	}
}

func (s *sensors) want(drivers.Command) []fact { return nil }

func (s *sensors) calm() []fact { return nil }

func (s *sensors) statuses(now time.Time) ([]drivers.Status, error) {
	all := []drivers.Status{{}}
	var unknown []error
	for _, sub := range drivers.SubDevices(drivers.TypeO3) {
		one := s.sub(sub, now)
		switch {
		case one.Err == nil && one.ObservedAt.After(all[0].ObservedAt):
			all[0].ObservedAt, all[0].Source = one.ObservedAt, sourceReport
		case one.Err != nil && !errors.Is(one.Err, errNotFitted):
			unknown = append(unknown, one.Err)
		}
		all = append(all, one)
	}
	if len(unknown) == len(s.by) {
		return nil, unknown[0]
	}
	return all, nil
}

// sub observes one sub-device.
func (s *sensors) sub(name string, now time.Time) drivers.Status {
	status := drivers.Status{Sub: name, Source: sourceReport}
	about := map[string]string{drivers.SubTemperature: temperature, drivers.SubOccupancy: occupancy}[name]
	p := s.by[about]
	if p == nil {
		status.Err = errNotFitted
		return status
	}
	status.ObservedAt = now
	k, err := p.get(about, now)
	if err != nil {
		status.Err = err
		return status
	}
	status.ObservedAt, status.Value = k.at, k.text
	status.Details = p.details(now, battery, linkQuality)
	if about == temperature {
		status.Value = strconv.FormatFloat(math.Round(k.number*10)/10+0, 'f', -1, 64) // +0: no "-0"
		status.Details = p.details(now, humidity, battery, linkQuality)
	}
	return status
}
