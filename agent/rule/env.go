package rule

import (
	"math"
	"reflect"
	"time"

	"github.com/expr-lang/expr/file"

	"roomgate/agent/printable"
)

// longestText bounds a text in the environment, in bytes: what an event says
// may come from a device or a cloud.
const longestText = 1000

// Env is what a condition may speak of. A device that is offline, or that the
// space does not have, has an empty value and a number that compares with nothing:
// stale values are never taken for fresh ones.
type Env struct {
	Event     Event   `expr:"event"`
	Space     Space   `expr:"space"`
	Booking   Booking `expr:"booking"` // the one that the trigger is about
	Current   Booking `expr:"current"` // under way now
	Next      Booking `expr:"next"`
	Local     Local   `expr:"local"`
	Lock      Device  `expr:"lock"`
	Camera    Device  `expr:"camera"`
	Light     Device  `expr:"light"`
	Fan       Device  `expr:"fan"`
	Sensor    Device  `expr:"sensor"` // the O3 itself
	Display   Device  `expr:"display"`
	Temp      Device  `expr:"temperature"` // °C
	Occupancy Device  `expr:"occupancy"`
	Buzzer    Device  `expr:"buzzer"`
	Ring      Device  `expr:"ring_light"`
}

// Event is what triggered the rule; of a trigger by time it is empty.
type Event struct {
	Type      string         `expr:"type"`
	Device    string         `expr:"device"`
	SubDevice string         `expr:"sub_device"`
	Value     string         `expr:"value"`
	Number    float64        `expr:"number"` // the value, if it is one
	Previous  string         `expr:"previous"`
	Status    string         `expr:"status"`
	Reason    string         `expr:"reason"`
	Details   map[string]any `expr:"details"`
}

// Space is the meeting space.
type Space struct {
	ID     string `expr:"id"`
	Name   string `expr:"name"`
	Status string `expr:"status"`
}

// Booking is a booking; without one Exists is false and the minutes compare
// with nothing.
type Booking struct {
	Exists     bool    `expr:"exists"`
	ID         string  `expr:"id"`
	State      string  `expr:"state"`
	Source     string  `expr:"source"`
	ToStart    float64 `expr:"minutes_to_start"` // negative once it has begun
	ToEnd      float64 `expr:"minutes_to_end"`
	SinceStart float64 `expr:"minutes_since_start"`
}

// Device is a device or a sub-device.
type Device struct {
	Value  string  `expr:"value"`
	Number float64 `expr:"number"` // the value, if it is one
	Status string  `expr:"status"`
	Online bool    `expr:"online"`
}

// Local is the time in the space's zone.
type Local struct {
	Hour    int    `expr:"hour"`
	Minute  int    `expr:"minute"`
	Weekday string `expr:"weekday"` // "monday"
	Date    string `expr:"date"`    // "2026-11-22"
	Time    string `expr:"time"`    // "07:30"
}

// NoDevice is a device that is not there or not to be relied on.
func NoDevice() Device { return Device{Number: math.NaN(), Status: "offline"} }

// NoBooking is none.
func NoBooking() Booking {
	return Booking{ToStart: math.NaN(), ToEnd: math.NaN(), SinceStart: math.NaN()}
}

// NewEnv is the environment of which nothing is known.
func NewEnv() *Env {
	e := &Env{Event: Event{Number: math.NaN()}, Booking: NoBooking(), Current: NoBooking(), Next: NoBooking()}
	for _, d := range []*Device{&e.Lock, &e.Camera, &e.Light, &e.Fan, &e.Sensor, &e.Display, &e.Temp, &e.Occupancy, &e.Buzzer, &e.Ring} {
		*d = NoDevice()
	}
	return e
}

// LocalAt is a time as its zone's clocks show it.
func LocalAt(t time.Time) Local {
	return Local{Hour: t.Hour(), Minute: t.Minute(), Weekday: weekdays[t.Weekday()],
		Date: t.Format(time.DateOnly), Time: t.Format("15:04")}
}

var weekdays = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// Clip bounds the texts of the event, no matter who wrote them.
func (e *Event) Clip() {
	for _, s := range []*string{&e.Value, &e.Previous, &e.Reason} {
		*s = clip(*s)
	}
	for name, v := range e.Details {
		if s, ok := v.(string); ok && len(s) > longestText {
			e.Details[name] = clip(s)
		}
	}
}

func clip(s string) string { return printable.Cut(s, longestText, "") }

// names lists what the environment has: by each name its fields.
var names = func() map[string][]string {
	out := map[string][]string{}
	t := reflect.TypeFor[Env]()
	for i := range t.NumField() {
		f := t.Field(i)
		var inner []string
		for j := range f.Type.NumField() {
			inner = append(inner, f.Type.Field(j).Tag.Get("expr"))
		}
		out[f.Tag.Get("expr")] = inner
	}
	return out
}()

// words are the values that a field can have, where they are few: comparing it
// with another one is a mistake.
var words = map[string][]string{
	"space.status": {"available", "reserved", "occupied", "disabled"},
	"lock.value":   {"open", "closed"}, "light.value": {"on", "off"}, "fan.value": {"on", "off"}, "camera.value": {"on", "off"},
	"buzzer.value": {"on", "off"}, "ring_light.value": {"on", "off"}, "occupancy.value": {"occupied", "vacant"},
	"lock.status": onlineOffline, "light.status": onlineOffline, "fan.status": onlineOffline, "camera.status": onlineOffline,
	"buzzer.status": onlineOffline, "ring_light.status": onlineOffline, "occupancy.status": onlineOffline,
	"sensor.status": onlineOffline, "display.status": onlineOffline, "temperature.status": {"normal", "high", "low", "offline"},
	"booking.state": bookingStates, "current.state": bookingStates, "next.state": bookingStates,
	"booking.source": bookingSources, "current.source": bookingSources, "next.source": bookingSources,
	"local.weekday": weekdays,
}

var (
	onlineOffline  = []string{"online", "offline"}
	bookingStates  = []string{"booked", "checked_in", "ended", "cancelled", "released", "displaced"}
	bookingSources = []string{"local", "cloud", "calendar", "walk_up"}
)

// clocked says whether a field is worth nothing without a trusted clock.
func clocked(name, field string) bool {
	switch name {
	case "local", "current", "next":
		return true
	case "booking":
		return field == "minutes_to_start" || field == "minutes_to_end" || field == "minutes_since_start"
	}
	return name == "space" && field == "status"
}

// place is where in the source something is, counted from 1.
func place(l file.Location) int { return l.From + 1 }
