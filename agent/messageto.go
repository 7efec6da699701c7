package agent

import (
	"cmp"
	"slices"

	"roomgate/agent/access"
	"roomgate/agent/auth"
	"roomgate/agent/config"
	"roomgate/agent/message"
)

// addressMessage finds out whom a message is for, and where the push gateway
// reaches him; the topic is empty if nobody knows. Who asks for an organization
// is told nothing of people of another: to him they are strangers.
func (a *Agent) addressMessage(r *message.Request, owner string) (topic string, err error) {
	var user *access.User
	switch to := &r.To; {
	case to.UserID != "":
		if user = a.Access.User(to.UserID); user == nil || !user.Enabled || !user.Of(owner) {
			return "", refuse(NotFound, "to.user_id", "is not a user of this gateway")
		}
		to.Email, to.Name = user.Email, user.Name
	case to.BookingID != "":
		if err := a.addressOrganizer(r); err != nil {
			return "", err
		}
		user = a.reader(to, owner)
	case to.Email != "":
		user = a.reader(to, owner)
	case owner != "" && !a.hasTopic(owner, to.Topic):
		return "", refuse(Forbidden, "to.topic", "is of nobody in your organization: name a person instead")
	default:
		topic = to.Topic
	}
	if user != nil {
		topic = a.topicOf(user.ID)
	}
	return topic, a.placeMessage(r, user)
}

// reader is the user with the address of a message, and nil for a stranger.
func (a *Agent) reader(to *message.To, owner string) *access.User {
	email, err := auth.ParseEmail(to.Email)
	if err != nil {
		return nil
	}
	to.Email = email
	u := a.Access.UserByEmail(email)
	if u == nil || !u.Enabled || !u.Of(owner) {
		return nil
	}
	to.UserID, to.Name = u.ID, cmp.Or(to.Name, u.Name)
	return u
}

// addressOrganizer names the organizer of a booking.
func (a *Agent) addressOrganizer(r *message.Request) error {
	b, err := a.Booking(r.To.BookingID)
	if err != nil {
		return refuse(NotFound, "to.booking_id", "is not a booking of this building")
	}
	if b.Organizer.Email == "" {
		return refuse(Invalid, "to.booking_id", "is a booking whose organizer has no address: name somebody else")
	}
	r.To.Email, r.To.Name = b.Organizer.Email, b.Organizer.Name
	r.SpaceID = cmp.Or(r.SpaceID, b.SpaceID)
	return nil
}

// placeMessage fills in whose a message is: that of who asks, else of the space
// that it is about, else of who gets it.
func (a *Agent) placeMessage(r *message.Request, to *access.User) error {
	if r.SpaceID != "" {
		s, err := a.space(r.SpaceID)
		if err != nil {
			return err
		}
		r.OrganizationID = cmp.Or(r.OrganizationID, a.ownerOf(s))
	}
	if to != nil {
		r.OrganizationID = cmp.Or(r.OrganizationID, to.OrganizationID)
	}
	return nil
}

// topicOf is where the push gateway reaches a user, empty if nowhere.
func (a *Agent) topicOf(userID string) string {
	people := a.Access.People()
	i := slices.IndexFunc(people, func(p config.Person) bool { return p.ID == userID })
	if i < 0 {
		return ""
	}
	topic := a.config.Push.TopicOf(people[i])
	if !message.ValidTopic(topic) { // of somebody whom no file names
		return ""
	}
	return topic
}

// hasTopic says whether a topic is that of somebody in an organization.
func (a *Agent) hasTopic(organization, topic string) bool {
	return slices.ContainsFunc(a.Access.People(), func(p config.Person) bool {
		return p.OrganizationID == organization && p.Enabled && a.config.Push.TopicOf(p) == topic
	})
}
