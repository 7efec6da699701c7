// Package book keeps the messages to people's mobile devices: it finds the
// recipient of a message, stores it with its row in the log, by which the cloud gets
// it, and hands it to a push gateway. Package message says what a message
// may be.
package book

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/booking"
	"roomgate/agent/clock"
	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	"roomgate/agent/message"
	"roomgate/agent/problem"
	"roomgate/agent/push"
	"roomgate/store"
)

const (
	pageSize    = 50
	maxPageSize = 200
)

// Reader is a person that messages reach.
type Reader struct {
	ID, Email, Name string
	OrganizationID  string // empty: the whole building
	Topic           string // at the push gateway; empty: nobody knows one
}

// Options are what a book is opened with.
type Options struct {
	DB     *store.DB
	Events *eventlog.Log
	Keys   *auth.Keys // seal the topics at the push gateway
	Clock  *clock.Clock
	Moment func() auth.Moment
	Log    *slog.Logger
	// Push is the push gateway, which Run closes; nil: there is none.
	Push *push.Gateway
	// Flush is how long results of a busy gateway may wait for each other.
	Flush time.Duration
	// Organizers says that the organizer of a booking is notified of what
	// becomes of it.
	Organizers bool

	// Cloud says how far the cloud has acknowledged the log, and whether there
	// is a link to it now; nil: there is no cloud.
	Cloud func() (acked uint64, connected bool, err error)
	// ReaderByID finds somebody who may be sent something.
	ReaderByID func(id string) (Reader, bool)
	// ReaderByEmail finds him by an address as auth.ParseEmail returns it: the one in an
	// organization, or if that is empty the first one.
	ReaderByEmail func(email, organization string) (Reader, bool)
	// HasTopic says whether a topic is that of somebody in an organization.
	HasTopic func(organization, topic string) bool
	// Booking finds a booking of this building.
	Booking func(id string) (booking.Booking, error)
	// Owner is the organization of a meeting space, empty if it has none. It refuses
	// a space that there is not.
	Owner func(spaceID string) (organization string, err error)
}

// Info is a message with how it fares on each way.
type Info struct {
	message.Message
	Channels Channels `json:"channels"`
}

// Channels are the ways to a mobile device.
type Channels struct {
	Cloud message.Channel `json:"cloud"`
	Push  message.Channel `json:"push"`
}

// Messages are those to people's mobile devices. It may be used by many.
type Messages struct {
	o      Options
	turn   loop.Turn   // holds a token while somebody makes a message with a key
	posted loop.Signal // holds a token when something may be due
	index  *index
}

// Open reads what was sent and what waits. It reaches nobody; that is Run's.
func Open(ctx context.Context, o Options) (*Messages, error) {
	m := &Messages{o: o, turn: loop.NewTurn(), posted: loop.NewSignal(), index: newIndex()}
	var plain []storedMessage
	err := o.DB.View(func(tx *store.Tx) error {
		for _, s := range messages.All(tx) {
			m.index.show(s)
			if s.Topic != "" || s.To.Topic != "" {
				plain = append(plain, s)
			}
		}
		if err := tx.Err(); err != nil {
			o.Log.Error("a message cannot be read and is left out", "error", err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return m, m.sealPlain(ctx, plain)
}

// Send takes a message to somebody's mobile device. Anybody who asks for an
// organization names it in the request. With the key of an earlier request it
// returns that one's message, as it stands now. When it returns, the message and
// its row in the log are stored. The error is a *problem.Error of what is
// refused: Invalid, NotFound, Forbidden, Conflict for a key of another message,
// Unavailable without a way to a device, Full while too many wait.
func (m *Messages) Send(ctx context.Context, r message.Request, key string) (Info, error) {
	if err := r.Check(); err != nil {
		return Info{}, err
	}
	if err := m.turn.Lock(ctx); err != nil {
		return Info{}, err
	}
	defer m.turn.Unlock()
	asked := r.Print()
	if known := m.index.byRequest(key); known != nil {
		s, err := m.read(known.id)
		if err == nil && s.Print != asked {
			err = problem.New(problem.Conflict, "id", "was used before for another message: choose a new one")
		}
		if err != nil {
			return Info{}, err
		}
		return m.info(s)
	}
	d, err := m.draft(r, r.OrganizationID)
	if err != nil {
		return Info{}, err
	}
	d.stored.Key, d.stored.Print = key, asked
	if err := m.o.Events.Commit(ctx, m.Stage(d)); err != nil {
		return Info{}, err
	}
	return m.accepted(d.stored)
}

// Get returns one message. One that is forgotten, or never was, is refused as
// problem.NotFound.
func (m *Messages) Get(id string) (Info, error) {
	if !m.index.has(id) {
		return Info{}, problem.New(problem.NotFound, "message_id", "is not a message of this gateway, or one that it has forgotten")
	}
	s, err := m.read(id)
	if err != nil {
		return Info{}, err
	}
	return m.info(s)
}

// List returns the messages of an organization, or of all if that is empty, the
// newest first, at most limit (0: 50, at most 200). The cursor that comes back
// leads to the next page; it is empty on the last.
func (m *Messages) List(organizationID string, limit int, cursor string) (page []Info, next string, err error) {
	before := ^uint64(0)
	if cursor != "" {
		if before, err = strconv.ParseUint(cursor, 36, 64); err != nil {
			return nil, "", problem.New(problem.Invalid, "cursor", "is not a cursor: send next_cursor of an earlier answer")
		}
	}
	if limit <= 0 {
		limit = pageSize
	}
	page = []Info{}
	found, more := m.index.page(organizationID, before, min(limit, maxPageSize))
	for _, e := range found {
		s, err := m.read(e.id)
		switch {
		case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrDamaged):
			continue // forgotten meanwhile, or lost
		case err != nil:
			return nil, "", err
		}
		info, err := m.info(s)
		if err != nil {
			return nil, "", err
		}
		page = append(page, info)
	}
	if more {
		next = strconv.FormatUint(found[len(found)-1].sequence, 36)
	}
	return page, next, nil
}

// read reads a message as it is now.
func (m *Messages) read(id string) (s storedMessage, err error) {
	s, newer := m.index.newer(id)
	if !newer {
		err = m.o.DB.View(func(tx *store.Tx) error { s, err = messages.Get(tx, id); return err })
		s = s.open(m.o.Keys)
	}
	return s, err
}

// info says how a message fares.
func (m *Messages) info(s storedMessage) (Info, error) {
	info, err := m.accepted(s)
	if e := m.index.find(s.ID); e.id != "" && s.Push.Open() {
		info.Channels.Push.Attempts, info.Channels.Push.Reason = e.tries, e.reason
	}
	return info, err
}

// accepted is a message as it is stored. Who sends one is answered with that,
// however quick the push gateway is.
func (m *Messages) accepted(s storedMessage) (info Info, err error) {
	info = Info{Message: s.Message, Channels: Channels{Push: s.Push}}
	info.Channels.Cloud, err = m.cloudChannel(s.Sequence)
	return info, err
}

// cloudChannel is how a row of the log fares on its way up.
func (m *Messages) cloudChannel(sequence uint64) (c message.Channel, err error) {
	if m.o.Cloud == nil {
		return message.Channel{State: message.Unused, Reason: "there is no cloud: set cloud.url"}, nil
	}
	acked, connected, err := m.o.Cloud()
	if err != nil {
		return c, err
	}
	var oldest uint64
	err = m.o.DB.View(func(tx *store.Tx) error { oldest, _, _ = m.o.Events.Bounds(tx); return nil })
	switch {
	case sequence <= acked:
		c.State = message.Sent
	case sequence < oldest:
		c.State, c.Reason = message.Failed, "the log was full before the cloud had taken it"
	case connected:
		c.State = message.Queued
	default:
		c.State, c.Reason = message.Queued, "there is no link to the cloud"
	}
	return c, err
}

// Status is how the messages fare that wait for the push gateway.
type Status struct {
	Configured bool
	Waiting    int
	Oldest     time.Duration // the longest that one has waited, as far as that is known
	Failing    string        // why the gateway takes nothing now; empty: it does
}

// Status says how what waits for the push gateway fares.
func (m *Messages) Status() Status {
	s := m.index.status(m.o.Moment())
	s.Configured = m.o.Push != nil
	return s
}
