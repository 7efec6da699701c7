package agent

import (
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/message"
	"roomgate/store"
)

// notices are what the organizers of bookings are told of a change, if the
// configuration wants that: that their time is given back, or that another has
// the room. What the cloud has decided, it tells them itself.
func (a *Agent) notices(s *space, edits []edit) (made []storedMessage) {
	if !a.config.Messages.Organizers {
		return nil
	}
	for _, e := range edits {
		told := e.event == bookingReleased || e.event == bookingDisplaced
		if !told || e.ruled || e.Organizer.Email == "" {
			continue
		}
		r := a.notice(s, e.Booking)
		m, err := storedMessage{}, r.Check()
		if err == nil {
			m, err = a.newMessage(r, "")
		}
		if err == nil && m.Push.Open() && a.messages.room(m.OrganizationID, true) != nil {
			m.Push = message.Channel{State: message.Failed, Reason: "too many messages wait for the push gateway"}
			m.Push.At = m.CreatedAt
		}
		if err != nil {
			a.log.Warn("the organizer of a booking is not told what became of it", "booking", e.ID, "reason", err)
			continue
		}
		made = append(made, m)
	}
	return made
}

// notice words what the organizer of a booking is told.
func (a *Agent) notice(s *space, b booking.Booking) message.Request {
	zone := s.plan.terms.Load().rules.Zone
	what := "was released"
	if b.State == booking.Displaced {
		what = "lost its room"
	}
	when := b.Start.In(zone).Format("Mon 2 Jan 15:04") + "-" + b.End.In(zone).Format("15:04 MST")
	return message.Request{SpaceID: s.ID, OrganizationID: a.ownerOf(s), Source: message.FromBooking, Priority: message.High,
		To: message.To{Email: b.Organizer.Email, Name: b.Organizer.Name}, Title: clipText(s.Name, 40) + ": your booking " + what,
		Body: when + ": " + clipText(b.Reason, 500), Life: noticeLife}
}

// noticeLife is how long it is worth knowing what became of a booking.
const noticeLife = 12 * time.Hour

// clipText keeps what somebody has named short enough to be shown.
func clipText(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// putNotices stores messages in the transaction of what they tell.
func (a *Agent) putNotices(tx *store.Tx, made []storedMessage) error {
	for i := range made {
		if err := a.putMessage(tx, &made[i]); err != nil {
			return err
		}
	}
	return nil
}

// showNotices lets the push gateway have what was stored.
func (a *Agent) showNotices(made []storedMessage) {
	if len(made) > 0 {
		a.messages.show(made...)
		a.messages.posted.Wake()
	}
}
