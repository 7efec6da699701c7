package book

import (
	"encoding/json"
	"time"

	"github.com/oklog/ulid/v2"

	"roomgate/agent/booking"
	"roomgate/agent/clock"
	"roomgate/agent/eventlog"
	"roomgate/agent/message"
	"roomgate/agent/problem"
	"roomgate/store"
)

// Draft is a message that will be taken, and is not stored yet.
type Draft struct{ stored storedMessage }

// ID is the id that the message will have.
func (d *Draft) ID() string { return d.stored.ID }

// Draft makes a message of the building itself, for Stage. It is refused like
// one of Send.
func (m *Messages) Draft(r message.Request) (*Draft, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	return m.draft(r, "")
}

// draft makes a message of a checked request that there is room for.
func (m *Messages) draft(r message.Request, owner string) (*Draft, error) {
	s, err := m.compose(r, owner)
	if err == nil {
		err = m.index.admit(s.OrganizationID, s.Push.Open())
	}
	if err != nil {
		return nil, err
	}
	return &Draft{s}, nil
}

// compose makes a message of a checked request. The owner is the organization
// of who asks, empty: everybody's.
func (m *Messages) compose(r message.Request, owner string) (storedMessage, error) {
	topic, err := m.address(&r, owner)
	if err != nil {
		return storedMessage{}, err
	}
	now := m.o.Clock.Now().UTC().Truncate(time.Millisecond)
	life, err := r.LifeAt(now, m.o.Clock.Trust() == clock.Trusted)
	if err != nil {
		return storedMessage{}, err
	}
	s := storedMessage{Posted: m.o.Moment(), Life: life, Topic: topic, Push: m.pushChannel(topic)}
	s.Message = message.Message{ID: ulid.Make().String(), OrganizationID: r.OrganizationID, SpaceID: r.SpaceID, To: r.To, Title: r.Title, Body: r.Body,
		Priority: r.Priority, Source: r.Source, CreatedAt: now, ExpiresAt: now.Add(life)}
	if !r.ExpiresAt.IsZero() {
		s.ExpiresAt = r.ExpiresAt.UTC().Truncate(time.Millisecond)
	}
	if !s.Push.Open() && m.o.Cloud == nil {
		return s, problem.New(problem.Unavailable, "", "nothing leads to a mobile device: %s, and there is no cloud", s.Push.Reason)
	}
	return s, nil
}

// pushChannel is whether a message goes to the push gateway.
func (m *Messages) pushChannel(topic string) message.Channel {
	switch {
	case m.o.Push == nil:
		return message.Channel{State: message.Unused, Reason: "there is no push gateway: set push.url"}
	case topic == "":
		return message.Channel{State: message.Unused, Reason: "nobody knows a topic of the recipient at the push gateway"}
	}
	return message.Channel{State: message.Queued}
}

// Stage stores messages with their rows in the log, in one transaction with
// what they tell of, and then lets the push gateway have them. Its Write and
// Show are always there.
func (m *Messages) Stage(drafts ...*Draft) eventlog.Stage {
	return eventlog.Stage{
		Write: func(tx *store.Tx) error {
			for _, d := range drafts {
				if err := m.put(tx, &d.stored); err != nil {
					return err
				}
			}
			return nil
		},
		Show: func() {
			for _, d := range drafts {
				m.index.show(d.stored)
			}
			if len(drafts) > 0 {
				m.posted.Wake()
			}
		},
	}
}

// put stores a message with its row in the log.
func (m *Messages) put(tx *store.Tx, s *storedMessage) error {
	said := s.Message
	said.To.Topic = "" // it is the push gateway's, and the cloud has nothing to do with it
	data, err := json.Marshal(said)
	if err != nil {
		return err
	}
	row := m.o.Events.Row(eventlog.LevelMessage, s.CreatedAt, s.SpaceID, "", "", data)
	if s.Sequence, err = m.o.Events.PushAt(tx, row); err != nil {
		return err
	}
	return m.keep(tx, *s)
}

// Notice is a booking whose organizer is told the outcome.
type Notice struct {
	Booking booking.Booking // as it is from now on
	SpaceID string
	Space   string         // its name
	Zone    *time.Location // of the space
}

// Notify is the stage of the messages to the organizers of bookings: that their
// time is given back, or that another has the room. It is empty unless
// Options.Organizers is set.
func (m *Messages) Notify(notices ...Notice) eventlog.Stage {
	var drafts []*Draft
	for _, n := range notices {
		if !m.o.Organizers || n.Booking.Organizer.Email == "" {
			continue
		}
		d, err := m.notice(n)
		if err != nil {
			m.o.Log.Warn("cannot notify the organizer of a booking", "booking", n.Booking.ID, "reason", err)
			continue
		}
		drafts = append(drafts, d)
	}
	return m.Stage(drafts...)
}

// notice makes the message to the organizer of a booking. Without room for it
// at the push gateway it goes the other way only.
func (m *Messages) notice(n Notice) (*Draft, error) {
	r := n.request()
	if err := r.Check(); err != nil {
		return nil, err
	}
	s, err := m.compose(r, "")
	if err != nil {
		return nil, err
	}
	if s.Push.Open() && m.index.admit(s.OrganizationID, true) != nil {
		s.Push = message.Channel{State: message.Failed, Reason: "too many messages wait for the push gateway"}
		s.Push.At = s.CreatedAt
	}
	return &Draft{s}, nil
}

// noticeLife is how long it is worth knowing the outcome of a booking.
const noticeLife = 12 * time.Hour

// request words what the organizer of a booking is told.
func (n Notice) request() message.Request {
	what := "was released"
	if n.Booking.State == booking.Displaced {
		what = "lost its room"
	}
	when := n.Booking.Start.In(n.Zone).Format("Mon 2 Jan 15:04") + "-" + n.Booking.End.In(n.Zone).Format("15:04 MST")
	return message.Request{SpaceID: n.SpaceID, Source: message.FromBooking, Priority: message.High,
		To:    message.To{Email: n.Booking.Organizer.Email, Name: n.Booking.Organizer.Name},
		Title: message.Clip(n.Space, 40) + ": your booking " + what, Body: when + ": " + message.Clip(n.Booking.ReasonIn(n.Zone), 500), Life: noticeLife}
}
