package agent

import (
	"cmp"
	"time"

	"roomgate/agent/message"
	rules "roomgate/agent/rule"
)

// longestTitle is how much of a rule's name a message has as its title.
const longestTitle = 60

// toldBy is the message that an action stands for. bookingID is the booking of
// the trigger, whose organizer may be meant.
func toldBy(r rules.Rule, act rules.Action, bookingID string) message.Request {
	m := message.Request{SpaceID: act.SpaceID, To: message.To{Email: act.To.Email, UserID: act.To.UserID, Topic: act.To.Topic},
		Title: cmp.Or(act.Title, clipText(r.Name, longestTitle)), Body: act.Message, Priority: message.Priority(act.Priority), Source: message.FromRule}
	if act.To.Organizer {
		m.To.BookingID = cmp.Or(bookingID, "of the trigger")
	}
	return m
}

// ruleMessage makes the message of an action, not stored yet.
func (a *Agent) ruleMessage(r rules.Rule, act rules.Action, t *trigger) (storedMessage, error) {
	m := toldBy(r, act, t.booking)
	m.SpaceID = cmp.Or(m.SpaceID, spaceID(t.space))
	if act.To.Organizer {
		b, err := a.Booking(t.booking)
		switch {
		case err != nil:
			return storedMessage{}, refuse(Invalid, "to.organizer", "is of no use: the trigger is about no booking")
		case b.Organizer.Email == "":
			return storedMessage{}, refuse(Invalid, "to.organizer", "is of no use: the booking %s has nobody with an address", b.ID)
		}
	}
	if err := m.Check(); err != nil {
		return storedMessage{}, err
	}
	s, err := a.newMessage(m, "")
	if err != nil {
		return s, err
	}
	return s, a.messages.room(s.OrganizationID, s.Push.Open())
}

// tell plans a message to somebody. It is stored with the run, so that neither
// a restart nor a power cut says it twice or not at all.
func (v *verdicts) tell(a *Agent, h *heldRule, act rules.Action, t *trigger) rules.Result {
	result := rules.Result{Action: inWords(act), FinishedAt: time.Now().UTC()}
	m, err := a.ruleMessage(h.Rule, act, t)
	state, _, reason := outcome(err)
	result.State, result.Reason = string(state), reason
	if err == nil {
		result.MessageID = m.ID
		v.told = append(v.told, m)
	}
	return result
}

// CheckRecipient refuses whom a rule of somebody of an organization may not
// tell anything: people and topics of others. Empty: the building's own.
func (a *Agent) CheckRecipient(organization string, to rules.To) error {
	if to.Organizer {
		return nil // of a booking of the rule's own spaces
	}
	r := message.Request{OrganizationID: organization, To: message.To{Email: to.Email, UserID: to.UserID, Topic: to.Topic}}
	_, err := a.addressMessage(&r, organization)
	return err
}
