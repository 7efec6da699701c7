package engine

import (
	"slices"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/agent/rule"
)

// byCloud is in a chain, beside the ids of rules, where an unsigned word of the cloud began
// it, or a calendar by plain http.
const byCloud = "unsigned"

// NoteStarting hears of a command that a device is about to carry out. What a device does after one that nobody has signed is
// the cloud's doing, and so what it does after one of a rule or of the schedule that such a word has led to.
func (e *Engine) NoteStarting(c device.Command) {
	if inDoubt(e, c) {
		e.marks.put(c, c.Via != device.ViaSchedule, time.Now())
	} else {
		e.marks.stir(c, time.Now())
	}
}

// NoteDone hears of one that a device has carried out, and when that began. The schedule only keeps what is there: what
// it ends may have begun by a word that is gone.
func (e *Engine) NoteDone(c device.Command, began time.Time) {
	if c.Via != device.ViaSchedule && !inDoubt(e, c) {
		e.marks.clear(c, began)
	}
}

// inDoubt says whether an unsigned word may have led to a command.
func inDoubt(e *Engine, c device.Command) bool {
	switch c.Via {
	case device.ViaMQTT:
		return c.Count == nil || c.Doubted
	case device.ViaSchedule:
		s := e.o.Site().byID[c.Space]
		return s != nil && s.Bookings().Vouched() != s.Bookings()
	}
	return c.Doubted
}

func doubtful(b *booking.Booking) bool {
	return b != nil && (b.Unsigned || b.CheckedInBy == booking.Cloud)
}

// doubted is a chain with the word of the cloud in it, if that began it: by the booking
// of a trigger, or by what the trigger itself is about.
func doubted(e *Engine, chain []string, t *trigger, about bool) []string {
	b, err := e.o.Booking(t.booking)
	if !slices.Contains(chain, byCloud) && (about || err == nil && doubtful(&b)) {
		return append([]string{byCloud}, chain...)
	}
	return chain
}

// doubt is a trigger as a rule goes on with it whose condition holds: with the word of the
// cloud in its chain if nobody has signed the rule, if its condition would not hold by what
// the building itself says of bookings, or if it reads a device that such a word has moved: without
// what the device was before, nobody can tell what the condition would say.
func doubt(e *Engine, h *compiled, t *trigger) *trigger {
	if e.o.Unsigned() || slices.Contains(t.chain, byCloud) {
		return t
	}
	if held, _ := e.holds(h, e.look(t, true)); held && !e.o.Doubted(h.ID) && !e.marks.full() && !readsMoved(e, h, t.space) {
		return t
	}
	by := *t
	by.chain = append([]string{byCloud}, t.chain...)
	return &by
}

// readsMoved says whether the condition of a rule reads what an unsigned word has moved.
func readsMoved(e *Engine, h *compiled, s *Space) bool {
	if s == nil {
		return false
	}
	for _, d := range s.Devices {
		for _, r := range d.Readings() {
			if h.condition.Reads(nameIn(d.Type, r.SubDevice)) && e.marks.moved(s.ID, d.Type, r.SubDevice, r.ObservedAt) {
				return true
			}
		}
	}
	return false
}

// unsignedRefusal says why a rule may not open a door in a chain; nil: it may.
func unsignedRefusal(e *Engine, act rule.Action, chain []string) error {
	if !unlocks(act) || !slices.Contains(chain, byCloud) || e.o.Unsigned() {
		return nil
	}
	return problem.New(problem.Forbidden, "", "an unsigned cloud message, or a calendar by plain http, started this rule or moved what it reads, or may have done so before the last restart, so it cannot open a door (doors.unsigned): send a signed command for the lock, or switch the device in the building")
}
