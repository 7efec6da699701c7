package book

import (
	"cmp"

	"roomgate/agent/auth"
	"roomgate/agent/message"
	"roomgate/agent/problem"
)

// CheckRecipient refuses recipients that an organization may not send to: people
// and topics of others. Empty: the building itself asks.
func (m *Messages) CheckRecipient(organization string, to message.To) error {
	r := message.Request{OrganizationID: organization, To: to}
	_, err := m.address(&r, organization)
	return err
}

// address finds the recipient of a message, and the topic at the push gateway,
// empty if it is not known. An organization is told nothing of the people of
// another: they are not found.
func (m *Messages) address(r *message.Request, owner string) (topic string, err error) {
	var reader Reader // zero: a stranger
	switch to := &r.To; {
	case to.UserID != "":
		var known bool
		if reader, known = m.o.ReaderByID(to.UserID); !known || !reader.isOf(owner) {
			return "", problem.New(problem.NotFound, "to.user_id", "is not a user of this gateway")
		}
		to.Email, to.Name = reader.Email, reader.Name
	case to.BookingID != "":
		if err := m.addressOrganizer(r); err != nil {
			return "", err
		}
		reader = m.reader(to, owner)
	case to.Email != "":
		reader = m.reader(to, owner)
	case owner != "" && !m.o.HasTopic(owner, to.Topic):
		return "", problem.New(problem.Forbidden, "to.topic", "is of nobody in your organization: name a person instead")
	default:
		topic = to.Topic
	}
	if reader.ID != "" {
		topic = reader.Topic
	}
	return topic, m.place(r, reader)
}

// isOf says whether an organization, or with none everybody, knows the reader.
func (r Reader) isOf(organization string) bool {
	return organization == "" || r.OrganizationID == organization
}

// reader is the one with the address of a message, zero for a stranger.
func (m *Messages) reader(to *message.To, owner string) Reader {
	email, err := auth.ParseEmail(to.Email)
	if err != nil {
		return Reader{}
	}
	to.Email = email
	r, known := m.o.ReaderByEmail(email, owner)
	if !known || !r.isOf(owner) {
		return Reader{}
	}
	to.UserID, to.Name = r.ID, cmp.Or(to.Name, r.Name)
	return r
}

// addressOrganizer names the organizer of a booking.
func (m *Messages) addressOrganizer(r *message.Request) error {
	found, err := m.o.Booking(r.To.BookingID)
	if err != nil {
		return problem.New(problem.NotFound, "to.booking_id", "is not a booking of this building")
	}
	if found.Organizer.Email == "" {
		return problem.New(problem.Invalid, "to.booking_id", "is a booking whose organizer has no address: name somebody else")
	}
	r.To.Email, r.To.Name = found.Organizer.Email, found.Organizer.Name
	r.SpaceID = cmp.Or(r.SpaceID, found.SpaceID)
	return nil
}

// place fills in whose a message is: that of who asks, else of the space that it
// is about, else of who gets it.
func (m *Messages) place(r *message.Request, to Reader) error {
	if r.SpaceID != "" {
		owner, err := m.o.Owner(r.SpaceID)
		if err != nil {
			return err
		}
		r.OrganizationID = cmp.Or(r.OrganizationID, owner)
	}
	r.OrganizationID = cmp.Or(r.OrganizationID, to.OrganizationID)
	return nil
}
