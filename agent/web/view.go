package web

import (
	"cmp"
	"time"

	"roomgate/agent/booking"
)

// View is what a door page shows of a room. Views that are equal look the same, so
// it holds nothing that goes on by itself but the minute.
type View struct {
	SpaceID, Name string
	Place         string    // where the room is: "3.07, left of the lift"; may be empty
	Now           time.Time // the minute by the gateway's clock, in the zone of the space
	Look          Look
	ClockTrusted  bool
	CloudAway     time.Time // since when; zero: it is there, or there is none

	Rules      booking.Rules
	State      booking.SpaceState
	Hold       *booking.Hold // the one in force
	Today      []booking.Booking
	ShowTitles bool
	Presence   string  // schedule.Occupied, Vacant or Unknown
	Lock       *Device // nil: the room has none
	Leaf       *Device // of the door, "ajar" or "shut"; nil: no contact watches it
	Light      *Device
	Night      bool // it is dark, and nobody is there
}

// Device is a device as the door tells of it.
type Device struct {
	Value   string
	Offline bool
}

// Leaf is how the leaf of a door stands, "ajar" or "shut", by the details of its lock; empty: no contact watches it.
func Leaf(details map[string]any) string {
	value, _ := details["door"].(string)
	return value
}

// Look is how pages of a space look, as its configuration says.
type Look struct {
	Language string // one of Languages
	Twelve   bool   // the clock has 12 hours
	Theme    string // one of Themes
}

// Themes are the ways a door page is coloured. Auto is Day until night.
const (
	ThemeAuto  = "auto"
	ThemeDay   = "day"
	ThemeNight = "night"
	ThemeMono  = "mono" // black and white, for electronic paper
)

// The states of a door page: those of a space, and what of them somebody at the
// door has to do something about.
const (
	stateFree     = "free"
	stateReserved = "reserved"
	stateCheckIn  = "checkin" // reserved, the time runs, and nobody has checked in
	stateBusy     = "busy"
	stateEnding   = "ending" // busy, and soon free
	stateDisabled = "disabled"
)

// endingWithin is how long before its end a meeting is said to end soon.
const endingWithin = 5 * time.Minute

// state is which of them the page is in.
func (v View) state() string {
	switch v.State.Status {
	case booking.Available:
		return stateFree
	case booking.Reserved:
		if v.Hold == nil && v.State.Current != nil && v.ClockTrusted {
			return stateCheckIn
		}
		return stateReserved
	case booking.Occupied:
		if b := v.State.Current; b != nil && v.Hold == nil && v.ClockTrusted && b.End.Sub(v.Now) <= endingWithin {
			return stateEnding
		}
		return stateBusy
	}
	return stateDisabled
}

// theme is the one that is shown now.
func (v View) theme() string {
	theme := cmp.Or(v.Look.Theme, ThemeAuto)
	if theme == ThemeAuto && v.Night {
		return ThemeNight
	}
	if theme == ThemeAuto {
		return ThemeDay
	}
	return theme
}

// inside is the booking that people are in: the running one, or the next if they came
// early and have checked in.
func (v View) inside() *booking.Booking {
	if b := v.State.Current; b != nil {
		return b
	}
	if b := v.State.Next; b != nil && b.State == booking.CheckedIn && b.Start.Sub(v.Now) <= v.Rules.Opens {
		return b
	}
	return nil
}

// meeting is the booking that the room is about now: the running one, or the next
// if people of it may come in already.
func (v View) meeting() *booking.Booking {
	if b := v.State.Current; b != nil {
		return b
	}
	if b := v.State.Next; b != nil && b.Start.Sub(v.Now) <= v.Rules.Opens {
		return b
	}
	return nil
}

// next is the booking after meeting, of today.
func (v View) next() *booking.Booking {
	now := v.meeting()
	for i := range v.Today {
		b := &v.Today[i]
		if !b.Live() || b.Start.Before(v.Now) || now != nil && !b.Start.After(now.Start) {
			continue
		}
		return b
	}
	return nil
}

// until is when what the page says ends; zero: not today, or nobody knows.
func (v View) until() time.Time {
	switch v.state() {
	case stateFree:
		return v.State.AvailableUntil
	case stateBusy, stateEnding, stateCheckIn:
		if v.Hold != nil {
			return v.Hold.Until
		}
		if b := v.State.Current; b != nil {
			return b.End
		}
		if b := v.State.Next; b != nil {
			return b.End
		}
	case stateReserved:
		if v.Hold != nil {
			return v.Hold.Until
		}
		if b := v.meeting(); b != nil {
			return b.Start
		}
	case stateDisabled:
		if v.Hold != nil {
			return v.Hold.Until
		}
		return v.State.NextAvailable
	}
	return time.Time{}
}
