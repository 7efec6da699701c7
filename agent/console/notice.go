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

// notices are what is wrong wherever one looks.
func (l *Look) notices() (all []Notice) {
	a := l.o.Agent
	if !l.trusted() {
		all = append(all, Notice{clockTrouble, clockFix})
	}
	if away := a.Cloud.Away(); away > cloudAwayAfter {
		all = append(all, Notice{"The cloud has been away for " + web.Length(away.Truncate(time.Minute)) + ": bookings made elsewhere are missing.", ""})
	}
	return all
}
