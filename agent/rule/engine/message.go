package engine

import (
	"cmp"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/message"
	"roomgate/agent/message/book"
	"roomgate/agent/problem"
	"roomgate/agent/rule"
)

// longestTitle is how much of a rule's name a message has as its title.
const longestTitle = 60

// messageOf is the message that an action stands for. bookingID is the booking
// of the trigger, whose organizer may be meant.
func messageOf(r rule.Rule, act rule.Action, bookingID string) message.Request {
	m := message.Request{SpaceID: act.SpaceID, To: message.To{Email: act.To.Email, UserID: act.To.UserID, Topic: act.To.Topic},
		Title: cmp.Or(act.Title, message.Clip(r.Name, longestTitle)), Body: act.Message, Priority: message.Priority(act.Priority), Source: message.FromRule}
	if act.To.Organizer {
		m.To.BookingID = cmp.Or(bookingID, "of the trigger")
	}
	return m
}

// draft makes the message of an action, not stored yet.
func (o *Options) draft(r rule.Rule, act rule.Action, t *trigger) (*book.Draft, error) {
	m := messageOf(r, act, t.booking)
	m.SpaceID = cmp.Or(m.SpaceID, idOf(t.space))
	if act.To.Organizer {
		b, err := o.Booking(t.booking)
		switch {
		case err != nil:
			return nil, problem.New(problem.Invalid, "to.organizer", "is of no use: the trigger is about no booking")
		case b.Organizer.Email == "":
			return nil, problem.New(problem.Invalid, "to.organizer", "is of no use: the booking %s has nobody with an address", b.ID)
		}
	}
	return o.Messages.Draft(m)
}

// notify plans a message to somebody. It is stored with the run, so that neither
// a restart nor a power cut sends it twice or not at all.
func (v *verdicts) notify(e *Engine, h *compiled, act rule.Action, t *trigger) rule.Result {
	result := rule.Result{Action: InWords(act), FinishedAt: time.Now().UTC()}
	d, err := e.o.draft(h.Rule, act, t)
	state, _, reason := device.Outcome(err)
	result.State, result.Reason = string(state), reason
	if err == nil {
		result.MessageID = d.ID()
		v.drafts = append(v.drafts, d)
	}
	return result
}
