package roomcontrol

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

// ring shows the status of the space: green is available, amber reserved, red
// occupied, and off disabled.
//
// It is commanded when the status changes, after a start, and when the hub comes
// back. In between it is not looked after: a colour that a person or the cloud
// has commanded stays until the status changes next, and so does a brightness for
// good. With a clock that is not trusted it shows what the sign says, which is
// what the gateway believes; the sign says beside it that the time is not
// trusted.
type ring struct {
	device *device.Device
	shown  string // the ring of the space's state that was last commanded; empty: none
	steady bool   // what it showed before, as a blinking, was ended
}

func (l *ring) observe(view, device.Reading) {}

func (l *ring) intend(v view, r device.Reading) intent {
	want := schedule.RingOf(v.state.Status)
	switch {
	case want != l.shown && want == schedule.RingOff:
		return intent{action: drivers.ActOff, goal: schedule.RingOff}
	case want != l.shown:
		return intent{action: drivers.ActColor, value: device.Value(ringColors[want]), goal: want}
	case want != schedule.RingOff && !l.steady && l.moves(r):
		return intent{action: drivers.ActPattern, value: device.Value(solidPattern), goal: want + " and " + solidPattern, tries: 1}
	}
	l.steady = true
	return intent{}
}

// moves says whether the ring shows a pattern that outlives a change of its
// colour. Not every driver has such.
func (l *ring) moves(r device.Reading) bool {
	pattern, _ := r.Details["pattern"].(string)
	if pattern == "" || pattern == solidPattern {
		return false
	}
	action, _, ok := l.device.Describe().Action(drivers.SubRing, drivers.ActPattern)
	if !ok {
		return false
	}
	_, err := action.Parse(device.Value(solidPattern))
	return err == nil
}

func (l *ring) fulfilled(i intent, _ time.Time) {
	switch i.action {
	case drivers.ActPattern:
		l.steady = true
	case drivers.ActOff:
		l.shown, l.steady = schedule.RingOff, true
	default:
		l.shown, l.steady = i.goal, false
	}
}

func (l *ring) lost() { l.shown = "" }
