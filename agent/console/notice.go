package console

import (
	"time"

	"roomgate/agent/web"
)

// cloudAwayAfter is for how long the cloud is away before a page says so.
const cloudAwayAfter = time.Minute

// The problem, and the remedy, while nobody knows what time it is.
const (
	clockTrouble = "The gateway does not know what time it is, so nothing here can be booked."
	clockFix     = "Let it reach a time server; if its clock is right, confirm it: roomgate clock confirm."
)

// What is to be known where somebody has moved the clock of the rooms, which is not that of the
// devices.
const (
	clockMoved = "The clock of the rooms was moved: bookings are told by it, and what devices and people do by the clock of this machine."
	clockReal  = "roomgate sim clock real makes them one again."
)

// notices are what is wrong wherever one looks.
func (l *Look) notices() (all []Notice) {
	a := l.o.Agent
	switch apart := time.Until(a.Now()).Abs(); {
	case !l.trusted():
		all = append(all, Notice{clockTrouble, clockFix})
	case apart > time.Minute: // of a demo alone
		all = append(all, Notice{clockMoved, clockReal})
	}
	if away := a.Cloud.Away(); away > cloudAwayAfter {
		all = append(all, Notice{"The cloud has been away for " + web.Length(away.Truncate(time.Minute)) + ": bookings made elsewhere are missing.", ""})
	}
	return all
}
