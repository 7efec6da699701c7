package engine

import (
	"slices"

	"roomgate/agent/booking"
	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/agent/rule"
)

// byCloud is in a chain, beside the ids of rules, where an unsigned word of the cloud began
// it, or a calendar by plain http.
const byCloud = "unsigned"

// anySub stands in a trace for a device with all that it has.
const anySub = "*"

// Note hears of a command that a device is about to carry out. What happens to the device
// soon after one that is not signed is the cloud's doing.
func (e *Engine) Note(c device.Command) {
	unsigned := c.Via == device.ViaMQTT && c.Count == nil
	if s := e.o.Site().byID[c.Space]; c.Via == device.ViaSchedule && s != nil {
		g := s.At(e.o.Clock.Now())
		unsigned = doubtful(g.Current) || doubtful(g.Next)
	}
	e.traces.move(c, unsigned)
	if unsigned {
		c.SubDevice = anySub
		e.traces.leave(c, []string{byCloud}, commandLife)
	}
}

func doubtful(b *booking.Booking) bool {
	return b != nil && (b.Unsigned || b.CheckedInBy == booking.Cloud)
}

// doubted is a chain with the word of the cloud in it, if that began it: by the booking
// of a trigger, by a command to a device, or by one that the trigger itself is about, which
// no device may have carried out.
func doubted(e *Engine, chain []string, t *trigger, deviceType string, about bool) []string {
	b, err := e.o.Booking(t.booking)
	told := e.traces.of(traceKey{idOf(t.space), deviceType, anySub}) != nil
	if !slices.Contains(chain, byCloud) && (about || told || err == nil && doubtful(&b)) {
		return append([]string{byCloud}, chain...)
	}
	return chain
}

// doubt is a trigger as a rule goes on with it whose condition holds: with the word of the
// cloud in its chain if nobody has signed the rule, or if its condition would not hold by what
// the building itself says.
func doubt(e *Engine, h *compiled, t *trigger) *trigger {
	if e.o.Unsigned() || slices.Contains(t.chain, byCloud) {
		return t
	}
	if held, _ := e.holds(h, e.look(t, true)); held && !e.o.Doubted(h.ID) {
		return t
	}
	by := *t
	by.chain = append([]string{byCloud}, t.chain...)
	return &by
}

// unsignedRefusal says why a rule may not open a door in a chain; nil: it may.
func unsignedRefusal(e *Engine, act rule.Action, chain []string) error {
	if !unlocks(act) || !slices.Contains(chain, byCloud) || e.o.Unsigned() {
		return nil
	}
	return problem.New(problem.Forbidden, "", "an unsigned cloud message, or a calendar by plain http, started this rule, so it cannot open a door (doors.unsigned): send a signed command for the lock")
}
