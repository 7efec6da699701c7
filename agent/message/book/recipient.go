package book

import (
	"cmp"

	"roomgate/agent/auth"
	"roomgate/agent/message"
	"roomgate/agent/problem"
)

// CheckRecipient refuses whom somebody of an organization may not send
// anything: people and topics of others. Empty: the building's own.
func (b *Messages) CheckRecipient(organization string, to message.To) error {
	r := message.Request{OrganizationID: organization, To: to}
	_, err := b.address(&r, organization)
	return err
}

// address finds out whom a message is for, and where the push gateway reaches
// him; the topic is empty if nobody knows. Who asks for an organization is told
// nothing of people of another: to him they are strangers.
func (b *Messages) address(r *message.Request, owner string) (topic string, err error) {
	var reader Reader // zero: a stranger
	switch to := &r.To; {
	case to.UserID != "":
		var known bool
		if reader, known = b.o.ReaderByID(to.UserID); !known || !reader.isOf(owner) {
			return "", problem.New(problem.NotFound, "to.user_id", "is not a user of this gateway")
		}
		to.Email, to.Name = reader.Email, reader.Name
	case to.BookingID != "":
		if err := b.addressOrganizer(r); err != nil {
			return "", err
		}
		reader = b.reader(to, owner)
	case to.Email != "":
		reader = b.reader(to, owner)
	case owner != "" && !b.o.HasTopic(owner, to.Topic):
		return "", problem.New(problem.Forbidden, "to.topic", "is of nobody in your organization: name a person instead")
	default:
		topic = to.Topic
	}
	if reader.ID != "" {
		topic = reader.Topic
	}
	return topic, b.place(r, reader)
}

// isOf says whether an organization, or with none everybody, knows the reader.
func (r Reader) isOf(organization string) bool {
	return organization == "" || r.OrganizationID == organization
}

// reader is the one with the address of a message, zero for a stranger.
func (b *Messages) reader(to *message.To, owner string) Reader {
	email, err := auth.ParseEmail(to.Email)
	if err != nil {
		return Reader{}
	}
	to.Email = email
	r, known := b.o.ReaderByEmail(email)
	if !known || !r.isOf(owner) {
		return Reader{}
	}
	to.UserID, to.Name = r.ID, cmp.Or(to.Name, r.Name)
	return r
}

// addressOrganizer names the organizer of a booking.
func (b *Messages) addressOrganizer(r *message.Request) error {
	found, err := b.o.Booking(r.To.BookingID)
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
func (b *Messages) place(r *message.Request, to Reader) error {
	if r.SpaceID != "" {
		owner, err := b.o.Owner(r.SpaceID)
		if err != nil {
			return err
		}
		r.OrganizationID = cmp.Or(r.OrganizationID, owner)
	}
	r.OrganizationID = cmp.Or(r.OrganizationID, to.OrganizationID)
	return nil
}
