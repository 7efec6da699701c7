// Package plot draws a day of a room: how warm it was, and when people were there.
package plot

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"roomgate/agent/schedule"
)

// The size of a plot, in its own units.
const wide, tall = 960.0, 200.0

// Day are temperature and occupancy over a day.
type Day struct {
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

// Sample is a value from a time on; an empty one is not known.
type Sample struct {
	At    time.Time
	Value string
}

// New draws what is known of a day until now; a zero time: nobody knows what time it is.
func New(temperature, presence []Sample, day, now time.Time, low, high float64) Day {
	p := Day{Has: len(temperature)+len(presence) > 0}
	end := time.Date(day.Year(), day.Month(), day.Day()+1, 0, 0, 0, 0, day.Location())
	x := func(t time.Time) float64 {
		return math.Round(wide*10*float64(t.Sub(day))/float64(end.Sub(day))) / 10
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
	if len(presence) == 0 {
		p.Title += "nothing is known of people"
		return p
	}
	p.Title += fmt.Sprintf("people were seen for %d min", int(there.Minutes()))
	if first := presence[0].At; first.After(day) {
		p.Title += ", not known before " + first.In(day.Location()).Format("15:04")
	}
	var unknown time.Duration
	for i, s := range presence[1:] {
		if was := presence[i]; !sensed(was) {
			unknown += s.At.Sub(was.At)
		}
	}
	if m := int(unknown.Minutes()); m > 0 {
		p.Title += fmt.Sprintf(", not known for %d min", m)
	}
	if last := presence[len(presence)-1]; !sensed(last) {
		p.Title += ", not known since " + last.At.In(day.Location()).Format("15:04")
	}
	return p
}

// sensed says whether a sample of people says how it was.
func sensed(s Sample) bool { return s.Value == schedule.Occupied || s.Value == schedule.Vacant }

// temperature draws the line with its scale, and returns the bounds of the values.
func (p *Day) temperature(all []Sample, x func(time.Time) float64, low, high float64) (least, most float64) {
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
	y := func(v float64) float64 { return math.Round((tall-(v-bottom)/(top-bottom)*tall)*10) / 10 }
	var path strings.Builder
	drawn := false
	for i, s := range all {
		switch known := !math.IsNaN(values[i]); {
		case known && drawn:
			fmt.Fprintf(&path, "H%gV%g", x(s.At), y(values[i]))
		case known:
			fmt.Fprintf(&path, "M%g %g", x(s.At), y(values[i]))
			drawn = true
		case drawn:
			fmt.Fprintf(&path, "H%g", x(s.At))
			drawn = false
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
func (p *Day) presence(all []Sample, x func(time.Time) float64, now time.Time) (there time.Duration) {
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
