package agent

import (
	"slices"

	"roomgate/agent/access"
	"roomgate/agent/booking"
	"roomgate/agent/config"
	"roomgate/agent/message"
	"roomgate/agent/message/book"
	"roomgate/agent/schedule"
)

// bookingNotices are the messages to the organizers of bookings about a change.
// The cloud itself tells them of its decisions.
func bookingNotices(r *schedule.Room, gone []booking.Booking) (all []book.Notice) {
	for _, b := range gone {
		all = append(all, book.Notice{Booking: b, SpaceID: r.ID, Space: r.Name(), Zone: r.Rules().Zone})
	}
	return all
}

// messageReader is a user as somebody to send messages to; false for one who may not
// sign in, and for nil.
func messageReader(people []config.Person, push config.Push, u *access.User) (book.Reader, bool) {
	if u == nil || !u.Enabled {
		return book.Reader{}, false
	}
	r := book.Reader{ID: u.ID, Email: u.Email, Name: u.Name, OrganizationID: u.OrganizationID}
	i := slices.IndexFunc(people, func(p config.Person) bool { return p.ID == u.ID })
	if i < 0 {
		return r, true
	}
	if topic := push.TopicOf(people[i]); message.ValidTopic(topic) { // no file names the topic of anybody else
		r.Topic = topic
	}
	return r, true
}

// hasTopic says whether a topic is that of somebody in an organization.
func hasTopic(people []config.Person, push config.Push, organization, topic string) bool {
	return slices.ContainsFunc(people, func(p config.Person) bool {
		return p.OrganizationID == organization && p.Enabled && push.TopicOf(p) == topic
	})
}
