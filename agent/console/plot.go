package console

import (
	"encoding/json"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/plot"
	"roomgate/agent/site"
	"roomgate/drivers"
)

// maxPoints bounds the events of a day that a plot is made of.
const maxPoints = 2000

// plots are those of a day of a space. The log is read once a minute at most.
func (l *Look) plots(s *site.Space, day time.Time) (plot.Day, error) {
	d := s.OfType(drivers.TypeO3)
	if d == nil {
		return plot.Day{}, nil
	}
	now, trusted := l.o.Agent.Now().In(day.Location()), l.trusted()
	if time.Since(l.plotted.at) < time.Minute && l.plotted.day.Equal(day) && l.plotted.trusted == trusted {
		return l.plotted.plots, nil
	}
	temperature, err := l.samples(d, device.EventStatusChanged, drivers.SubTemperature, day)
	if err != nil {
		return plot.Day{}, err
	}
	presence, err := l.samples(d, device.EventOccupancyChanged, drivers.SubOccupancy, day)
	if err != nil {
		return plot.Day{}, err
	}
	began := l.o.Agent.Now().Add(-l.o.Agent.Health.Uptime())
	off, err := l.offTimes(day, began)
	if err != nil {
		return plot.Day{}, err
	}
	temperature, presence = plot.Without(temperature, off), plot.Without(presence, off)
	if !trusted {
		now = time.Time{}
		if n := len(presence); n > 0 {
			presence = append(presence, plot.Sample{At: presence[n-1].At})
		}
	}
	if today := !now.Before(day) && now.Before(midnight(day, 1)); today {
		temperature = live(temperature, d, drivers.SubTemperature, now)
		if len(presence) == 0 { // it has not changed since
			from := day
			if trusted && began.After(day) {
				from = began
			}
			presence = live(presence, d, drivers.SubOccupancy, from)
		}
	}
	alert := d.Live().Alert
	l.plotted = plotted{time.Now(), day, trusted, plot.New(temperature, presence, day, now, alert.Low, alert.High)}
	return l.plotted.plots, nil
}

// offTimes are those of a day in which the gateway may have been off: from the last event of a
// run of it to the first of the next one, or to when this one began.
func (l *Look) offTimes(day, began time.Time) (off []plot.Off, err error) {
	found, _, err := l.o.Agent.Events.Latest(eventlog.Filter{Since: midnight(day, -1), Until: midnight(day, 1), Limit: maxPoints})
	if err != nil {
		return nil, err
	}
	found = append(found, eventlog.Event{Time: began, Boot: l.o.Agent.Events.Boot()})
	for i := range found[1:] {
		if was, is := found[i], found[i+1]; was.Boot != is.Boot && is.Time.After(was.Time) {
			if is.Boot == l.o.Agent.Events.Boot() && began.After(was.Time) && began.Before(is.Time) {
				is.Time = began
			}
			off = append(off, plot.Off{From: was.Time, To: is.Time})
		}
	}
	return off, nil
}

// live adds what a part of a device says now.
func live(all []plot.Sample, d *device.Device, sub string, at time.Time) []plot.Sample {
	if r, ok := d.Reading(sub); ok && !r.Offline() && r.Value != "" {
		all = append(all, plot.Sample{At: at, Value: r.Value})
	}
	return all
}

// plotted are plots, and when they were made.
type plotted struct {
	at, day time.Time
	trusted bool // the clock was
	plots   plot.Day
}

// samples are the values that events of a day say, oldest first, an empty one once the part is away.
func (l *Look) samples(d *device.Device, kind, sub string, day time.Time) (all []plot.Sample, err error) {
	found, _, err := l.o.Agent.Events.Latest(eventlog.Filter{SpaceID: d.SpaceID, DeviceType: d.Type, SubDevice: sub,
		Types: []string{kind, device.EventOffline, device.EventOnline}, Since: day, Until: midnight(day, 1), Limit: maxPoints})
	for _, e := range found {
		var r struct {
			Details struct {
				Value    string `json:"value"`
				Previous string `json:"previous"`
			} `json:"details"`
		}
		if json.Unmarshal(e.Record, &r) != nil {
			continue
		}
		if e.Type == device.EventOffline {
			r.Details.Value = ""
		}
		if len(all) == 0 && r.Details.Previous != "" {
			all = append(all, plot.Sample{At: day, Value: r.Details.Previous})
		}
		all = append(all, plot.Sample{At: e.Time, Value: r.Details.Value})
	}
	return all, err
}
