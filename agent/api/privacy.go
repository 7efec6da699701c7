package api

import (
	"encoding/json"
	"strings"

	"roomgate/agent/access"
	"roomgate/agent/booking"
	"roomgate/agent/eventlog"
	"roomgate/agent/message/book"
)

// hides says whether somebody sees of a booking only that the room is taken: it is
// private, and he is neither its organizer nor manages the organization.
func hides(who *access.Principal, b *booking.Booking) bool {
	return b.Private && who.Personal() && (who.Address() == "" || !b.Organizer.Is(who.Address()))
}

// seenBy is a booking as somebody sees it. Of one that is hidden stays what the door
// shows.
func seenBy(who *access.Principal, b booking.Booking) booking.Booking {
	if hides(who, &b) {
		b.Title, b.Organizer, b.ExternalID, b.Reason = "", booking.Person{}, "", ""
	}
	return b
}

// aboutBooking begins the types of the events of bookings.
const aboutBooking = "booking."

// eventsSeenBy leaves out of events who organized and changed bookings that somebody
// does not see now, though they may not have been private then. One that is
// forgotten may have been.
func (s visibility) eventsSeenBy(who *access.Principal, found []eventlog.Event) []eventlog.Event {
	if !who.Personal() {
		return found
	}
	for i := range found {
		if strings.HasPrefix(found[i].Type, aboutBooking) {
			found[i].Record = s.recordSeenBy(who, found[i].Record)
		}
	}
	return found
}

// hiddenDetails are those of a booking's event that say whose it is and why.
var hiddenDetails = []string{"organizer", "by", "reason"}

func (s visibility) recordSeenBy(who *access.Principal, record json.RawMessage) json.RawMessage {
	var r struct {
		Type      string                     `json:"eventType"`
		Timestamp string                     `json:"timestamp"`
		Details   map[string]json.RawMessage `json:"details"`
	}
	_ = json.Unmarshal(record, &r) // we wrote it
	var id string
	_ = json.Unmarshal(r.Details["booking_id"], &id)
	b, err := s.agent.Bookings.Get(id)
	if err != nil {
		b.Private = true
		_ = json.Unmarshal(r.Details["organizer"], &b.Organizer)
	}
	if !hides(who, &b) {
		return record
	}
	for _, name := range hiddenDetails {
		delete(r.Details, name)
	}
	record, _ = json.Marshal(r) // of texts and what was JSON
	return record
}

// messageSeenBy is a message to the organizer of a booking, as somebody sees it.
func (s visibility) messageSeenBy(who *access.Principal, m book.Info) book.Info {
	if b, err := s.agent.Bookings.Get(m.To.BookingID); err == nil && hides(who, &b) {
		m.To.Email, m.To.Name, m.To.UserID = "", "", ""
	}
	return m
}
