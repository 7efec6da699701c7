package agent

import (
	"crypto/x509"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"slices"

	"roomgate/agent/access"
	"roomgate/agent/booking"
	"roomgate/agent/config"
	"roomgate/agent/message"
	"roomgate/agent/message/book"
	"roomgate/agent/push"
	"roomgate/agent/schedule"
)

// bookingNotices are the messages to the organizers of bookings about a change.
// What the cloud has decided, it tells them itself.
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

// pushGateway is the configured one, nil without one. It is reached with the
// client, or if that is nil as the configuration says.
func pushGateway(c config.Push, client *http.Client, log *slog.Logger) *push.Gateway {
	if c.URL == "" {
		return nil
	}
	if client == nil {
		client = push.NewClient(pushAuthorities(c, log))
	}
	return push.New(c.URL, func() (string, error) { return c.Token.Reveal(c.TokenFile) }, client)
}

// pushAuthorities are those that the configuration trusts; nil: the system's. A
// file that cannot be read is no reason not to start: then nothing is sent.
func pushAuthorities(c config.Push, log *slog.Logger) *x509.CertPool {
	if c.CAFile == "" {
		return nil
	}
	pool := x509.NewCertPool()
	pem, err := os.ReadFile(c.CAFile)
	if err == nil && !pool.AppendCertsFromPEM(pem) {
		err = errors.New("it holds no certificate")
	}
	if err != nil {
		log.Error("push.ca_file cannot be read, so no push gateway is trusted: correct it and start again", "file", c.CAFile, "error", err)
	}
	return pool
}
