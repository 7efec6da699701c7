package console

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/schedule"
	"roomgate/agent/site"
	"roomgate/drivers"
)

// The size of a plot, in its own units.
const (
	plotWide, plotHigh = 960.0, 200.0
	// maxPoints bounds the events of a day that a plot is made of.
	maxPoints = 2000
)

// Plots are temperature and occupancy over a day.
type Plots struct {
	Has   bool
	Title string // what they say, in a sentence
	Line  string // the path of the temperature
	Bands []Span // times in which people were there
	Marks []Mark // of the scale
	Hours []Mark
	Low   float64 // the place of the lower end of the range; 0: it is not on the plot
	High  float64
	Now   float64 // 0: it is another day
}

// Span is a part of the width of a plot.
type Span struct{ X, Width float64 }

// Mark is a place with its text.
type Mark struct {
	At   float64
	Text string
}

// Sample is a value from a time on.
type Sample struct {
	At    time.Time
	Value string
}

// plots are those of a day of a space. The log is read once a minute at most.
func (l *Look) plots(s *site.Space, day time.Time) (Plots, error) {
	d := s.OfType(drivers.TypeO3)
	if d == nil {
		return Plots{}, nil
	}
	now := l.o.Agent.Now().In(day.Location())
	if time.Since(l.plotted.at) < time.Minute && l.plotted.day.Equal(day) {
		return l.plotted.plots, nil
	}
	temperature, err := l.samples(s.ID, device.EventStatusChanged, drivers.SubTemperature, day)
	if err != nil {
		return Plots{}, err
	}
	presence, err := l.samples(s.ID, device.EventOccupancyChanged, drivers.SubOccupancy, day)
	if err != nil {
		return Plots{}, err
	}
	if r, ok := d.Reading(drivers.SubTemperature); ok && !r.Offline() && !now.Before(day) && now.Before(midnight(day, 1)) {
		temperature = append(temperature, Sample{now, r.Value})
	}
	alert := d.Live().Alert
	l.plotted = plotted{time.Now(), day, newPlots(temperature, presence, day, now, alert.Low, alert.High)}
	return l.plotted.plots, nil
}

// plotted are plots, and when they were made.
type plotted struct {
	at, day time.Time
	plots   Plots
}

// samples are the values that events of a day say, oldest first.
func (l *Look) samples(spaceID, kind, sub string, day time.Time) (all []Sample, err error) {
	found, _, err := l.o.Agent.Events.Latest(eventlog.Filter{SpaceID: spaceID, DeviceType: drivers.TypeO3, SubDevice: sub, Type: kind,
		Since: day, Until: midnight(day, 1), Limit: maxPoints})
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
		if len(all) == 0 && r.Details.Previous != "" {
			all = append(all, Sample{day, r.Details.Previous})
		}
		all = append(all, Sample{e.Time, r.Details.Value})
	}
	return all, err
}

// newPlots draws what is known of a day.
func newPlots(temperature, presence []Sample, day, now time.Time, low, high float64) Plots {
	p := Plots{Has: len(temperature)+len(presence) > 0}
	end := midnight(day, 1)
	x := func(t time.Time) float64 {
		return math.Round(plotWide*10*float64(t.Sub(day))/float64(end.Sub(day))) / 10
	}
	if now.After(day) && now.Before(end) {
		p.Now = x(now)
	} else {
		now = end
	}
	for hour := 0; hour <= 24; hour += 3 {
		at := time.Date(day.Year(), day.Month(), day.Day(), hour, 0, 0, 0, day.Location())
		p.Hours = append(p.Hours, Mark{x(at), at.Format("15:04")})
	}
	least, most := p.temperature(temperature, x, low, high)
	there := p.presence(presence, x, now)
	if least <= most {
		p.Title = fmt.Sprintf("Temperature between %.1f and %.1f °C; ", least, most)
	}
	p.Title += fmt.Sprintf("people were seen for %d min", int(there.Minutes()))
	return p
}

// temperature draws the line with its scale, and returns the bounds of the values.
func (p *Plots) temperature(all []Sample, x func(time.Time) float64, low, high float64) (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	var values []float64
	for _, s := range all {
		v, err := strconv.ParseFloat(s.Value, 64)
		if err != nil {
			v = math.NaN()
		} else {
			least, most = math.Min(least, v), math.Max(most, v)
		}
		values = append(values, v)
	}
	if least > most {
		return least, most
	}
	bottom, top := math.Floor(math.Min(least-1, 18)), math.Ceil(math.Max(most+1, 26))
	y := func(v float64) float64 { return math.Round((plotHigh-(v-bottom)/(top-bottom)*plotHigh)*10) / 10 }
	var path strings.Builder
	for i, s := range all {
		switch {
		case math.IsNaN(values[i]):
		case path.Len() == 0:
			fmt.Fprintf(&path, "M%g %g", x(s.At), y(values[i]))
		default:
			fmt.Fprintf(&path, "H%gV%g", x(s.At), y(values[i]))
		}
	}
	p.Line = path.String()
	for v := math.Ceil(bottom/2) * 2; v <= top; v += 2 {
		p.Marks = append(p.Marks, Mark{y(v), fmt.Sprintf("%.0f °C", v)})
	}
	if low > bottom {
		p.Low = y(low)
	}
	if high < top {
		p.High = y(high)
	}
	return least, most
}

// presence draws when people were there, and returns for how long.
func (p *Plots) presence(all []Sample, x func(time.Time) float64, now time.Time) (there time.Duration) {
	for i, s := range all {
		until := now
		if i+1 < len(all) {
			until = all[i+1].At
		}
		if s.Value == schedule.Occupied && until.After(s.At) {
			there += until.Sub(s.At)
			p.Bands = append(p.Bands, Span{x(s.At), math.Round((x(until)-x(s.At))*10) / 10})
		}
	}
	return there
}
