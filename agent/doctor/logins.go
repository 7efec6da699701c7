package doctor

import (
	"context"
	"fmt"

	"roomgate/agent/health"
	"roomgate/cloud"
)

// LogIn is a user with his password, tried where it is for.
type LogIn struct {
	Device   string // the id of a device; empty: the cloud's broker
	At       string // the address
	Answers  bool   // else nobody knows whether it is right
	Refused  bool
	Untried  bool // the others took the time
	Username string
}

// logIns tries what no running gateway has tried: without one, or while it runs with the
// configuration of before.
func logIns(ctx context.Context, x *examination) (found []Finding) {
	if x.LogIns == nil || x.Quiet || x.Config == nil || x.simulated() || x.Building != nil && !x.Building.pending().Changed {
		return nil
	}
	for _, l := range x.LogIns(ctx, x.Config) {
		found = append(found, l.finding(x))
	}
	return found
}

func (l LogIn) finding(x *examination) Finding {
	name := "log-in at " + l.Device
	if l.Device == "" {
		name = "log-in at the cloud"
	}
	switch {
	case l.Untried:
		return warn(name, l.At+" was not asked: the others took too long", "mend those that do not answer, then sudo roomgate doctor")
	case l.Refused && l.Device == "":
		return fail(name, fmt.Sprintf("%s refuses the user %s with this password", l.At, l.Username), cloudFix(x, &health.Trouble{Cause: string(cloud.CauseLogin)}))
	case l.Refused:
		return fail(name, l.At+" refuses the password", rightPassword(x, l.Device)+", then "+x.restart())
	case !l.Answers:
		return warn(name, l.At+" does not answer, so the password is not proved", "see that it has power and network, then sudo roomgate doctor")
	}
	return good(name, "%s takes user and password", l.At)
}
