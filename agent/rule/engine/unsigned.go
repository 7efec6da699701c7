package engine

import (
	"roomgate/agent/problem"
	"roomgate/agent/rule"
	"roomgate/agent/rule/doubt"
)

// doubtful says whether an unsigned word has made a booking what it is.
func (o *Options) doubtful(bookingID string) bool {
	b, err := o.Booking(bookingID)
	return err == nil && b.Doubted()
}

// doubt is a trigger as a rule goes on with it whose condition holds: with the word of the
// cloud in its chain if nobody has signed the rule, if its condition would not hold by what
// the building itself says of bookings, or if it reads a device that such a word has moved: without
// what the device was before, nobody can tell what the condition would say.
func (e *Engine) doubt(h *compiled, t *trigger) *trigger {
	if e.o.UnsignedAllowed() || doubt.Began(t.chain) {
		return t
	}
	if held, _ := e.o.holds(h, e.o.look(t, true)); held && !e.o.Doubted(h.ID) && !e.o.Marks.Lost() && !h.readsMoved(t.space, e.o.Marks) {
		return t
	}
	by := *t
	by.chain = doubt.Chain(t.chain...)
	return &by
}

// readsMoved says whether the condition of a rule reads what an unsigned word has moved.
func (h *compiled) readsMoved(s *Space, marks *doubt.Marks) bool {
	if s == nil {
		return false
	}
	for _, d := range s.Devices {
		for _, r := range d.Readings() {
			if h.condition.Reads(nameIn(d.Type, r.SubDevice)) && marks.Moved(doubt.Part{Space: s.ID, Device: d.Type, Sub: r.SubDevice}, r.ObservedAt) {
				return true
			}
		}
	}
	return false
}

// unsignedRefusal says why a rule may not open a door in a chain; nil: it may.
func (o *Options) unsignedRefusal(act rule.Action, chain []string) error {
	if !unlocks(act) || !doubt.Began(chain) || o.UnsignedAllowed() {
		return nil
	}
	return problem.New(problem.Forbidden, "", "an unsigned cloud message, or a calendar by plain http, started this rule or moved what it reads, or may have done so before the last restart, so it cannot open a door (doors.unsigned): send a signed command for the lock, or switch the device in the building")
}
