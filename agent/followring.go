package agent

import (
	"time"

	"roomgate/agent/device"
	"roomgate/agent/schedule"
	"roomgate/drivers"
)

// ringColors are what the ring shows. Amber has less green than a screen's, for
// an LED is the brighter in it; all are whole steps of 20 %, which a hub that
// counts in percent says back as they were.
var ringColors = map[string]string{schedule.RingGreen: "#00ff00", schedule.RingAmber: "#ff6600", schedule.RingRed: "#ff0000"}

// solidPattern is how a driver that has patterns calls none.
const solidPattern = "solid"

// ringLight shows the status of the space: green is available, amber reserved, red
// occupied, and off disabled.
//
// It is ordered when the status changes, after a start, and when the hub comes
// back. In between it is not looked after: a colour that a person or the cloud
// has ordered stays until the status changes next, and so does a brightness for
// good. With a clock that is not trusted it shows what the sign says, which is
// what the gateway believes; the sign says beside it that the time is not
// trusted.
type ringLight struct {
	device *device.Device
	shown  string // the ring of the space's state that was last ordered; empty: none
	steady bool   // what it showed before, as a blinking, was ended
}

func (l *ringLight) observe(sight, device.Reading) {}

func (l *ringLight) wish(v sight, r device.Reading) wish {
	want := schedule.RingOf(v.sign.Status)
	switch {
	case want != l.shown && want == schedule.RingOff:
		return wish{action: drivers.ActOff, goal: schedule.RingOff}
	case want != l.shown:
		return wish{action: drivers.ActColor, value: jsonValue(ringColors[want]), goal: want}
	case want != schedule.RingOff && !l.steady && l.moves(r):
		return wish{action: drivers.ActPattern, value: jsonValue(solidPattern), goal: want + " and " + solidPattern, tries: 1}
	}
	l.steady = true
	return wish{}
}

// moves says whether the ring shows a pattern that outlives a change of its
// colour. Not every driver has such.
func (l *ringLight) moves(r device.Reading) bool {
	pattern, _ := r.Details["pattern"].(string)
	if pattern == "" || pattern == solidPattern {
		return false
	}
	action, _, ok := l.device.Describe().Action(drivers.SubRing, drivers.ActPattern)
	if !ok {
		return false
	}
	_, err := action.Parse(jsonValue(solidPattern))
	return err == nil
}

func (l *ringLight) granted(w wish, _ time.Time) {
	switch w.action {
	case drivers.ActPattern:
		l.steady = true
	case drivers.ActOff:
		l.shown, l.steady = schedule.RingOff, true
	default:
		l.shown, l.steady = w.goal, false
	}
}

func (l *ringLight) lost() { l.shown = "" }
