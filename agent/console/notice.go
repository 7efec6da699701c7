package console

import (
	"time"

	"roomgate/agent/web"
)

// cloudAwayAfter is for how long the cloud is away before a page says so.
const cloudAwayAfter = time.Minute

// notices are what is wrong wherever one looks.
func (l *Look) notices() (all []Notice) {
	a := l.o.Agent
	if c := a.Health.Clock(); !c.Trusted {
		all = append(all, Notice{"The gateway does not know what time it is, so nothing here can be booked.", "Let it reach a time server; if its clock is right, confirm it: roomgate clock confirm."})
	}
	if away := a.Cloud.Away(); away > cloudAwayAfter {
		all = append(all, Notice{"The cloud has been away for " + web.Length(away.Truncate(time.Minute)) + ": bookings made elsewhere are missing.", ""})
	}
	return all
}
