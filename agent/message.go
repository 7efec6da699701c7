package agent

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"roomgate/agent/auth"
	"roomgate/agent/loop"
	"roomgate/agent/message"
	"roomgate/agent/push"
	"roomgate/store"
)

const (
	// levelMessage is the topic level on which messages go up.
	levelMessage = "message"
	// keepMessages is how many messages are remembered, the oldest that are done
	// with go first. What goes up of them is in the log, whatever is forgotten.
	keepMessages = 1000
	// maxQueuedMessages bounds those that wait for the push gateway, and those of
	// one organization; then no more are taken. What was taken is never dropped
	// before it expires.
	maxQueuedMessages      = 500
	maxQueuedMessagesOfOrg = 200

	messagePage    = 50
	maxMessagePage = 200
)

// MessageInfo is a message with how it fares on each way.
type MessageInfo struct {
	message.Message
	Channels MessageChannels `json:"channels"`
}

// MessageChannels are the ways to a mobile device.
type MessageChannels struct {
	Cloud message.Channel `json:"cloud"`
	Push  message.Channel `json:"push"`
}

// messageBook is the messages, of which memory has only what moves them.
type messageBook struct {
	gateway *push.Gateway // nil without one
	turn    loop.Turn     // holds a token while somebody makes a message with a key
	posted  loop.Signal   // holds a token when something may be due

	// mu guards what follows. It is never held across a write or a request.
	mu      sync.Mutex
	list    []*postedMessage // oldest first
	byID    map[string]*postedMessage
	byKey   map[string]*postedMessage
	unsaved map[string]storedMessage // newer than the store has them
	failing string                   // why the gateway takes nothing now; empty: it does
}

// postedMessage is what memory has of a message.
type postedMessage struct {
	id, key, organization string
	sequence              uint64 // of its row in the log
	push                  message.State
	posted                auth.Moment
	life                  time.Duration
	tries                 int
	due                   time.Time // not before
	reason                string    // why the last try failed
}

// SendMessage takes a message to somebody's mobile device. With the key of an
// earlier request it returns that one's message, as it stands now. When it
// returns, the message and its row in the log are stored.
func (a *Agent) SendMessage(ctx context.Context, r message.Request, key string) (MessageInfo, error) {
	owner := r.OrganizationID // of who asks; empty: everybody
	if err := r.Check(); err != nil {
		return MessageInfo{}, err
	}
	b := a.messages
	if err := b.turn.Lock(ctx); err != nil {
		return MessageInfo{}, err
	}
	defer b.turn.Unlock()
	asked := r.Print()
	if known := b.byRequest(key); known != nil {
		s, err := a.storedMessage(known.id)
		if err == nil && s.Print != asked {
			err = refuse(Conflict, "id", "was used before for another message: choose a new one")
		}
		if err != nil {
			return MessageInfo{}, err
		}
		return a.messageInfo(s)
	}
	s, err := a.newMessage(r, owner)
	if err != nil {
		return MessageInfo{}, err
	}
	s.Key, s.Print = key, asked
	if err := b.room(s.OrganizationID, s.Push.Open()); err != nil {
		return MessageInfo{}, err
	}
	if err := a.Events.Update(ctx, func(tx *store.Tx) error { return a.putMessage(tx, &s) }, func() { b.show(s) }); err != nil {
		return MessageInfo{}, err
	}
	b.posted.Wake()
	return a.messageInfo(s)
}

// newMessage makes a message of a checked request.
func (a *Agent) newMessage(r message.Request, owner string) (storedMessage, error) {
	topic, err := a.addressMessage(&r, owner)
	if err != nil {
		return storedMessage{}, err
	}
	now := a.Now().UTC().Truncate(time.Millisecond)
	life, err := r.LifeAt(now, a.clock.Trust() == Trusted)
	if err != nil {
		return storedMessage{}, err
	}
	s := storedMessage{Posted: a.moment(), Life: life, Topic: topic, Push: a.pushChannel(topic)}
	s.Message = message.Message{ID: ulid.Make().String(), OrganizationID: r.OrganizationID, SpaceID: r.SpaceID, To: r.To, Title: r.Title, Body: r.Body,
		Priority: r.Priority, Source: r.Source, CreatedAt: now, ExpiresAt: now.Add(life)}
	if !r.ExpiresAt.IsZero() {
		s.ExpiresAt = r.ExpiresAt.UTC().Truncate(time.Millisecond)
	}
	if !s.Push.Open() && a.config.Cloud.URL == "" {
		return s, refuse(Unavailable, "", "nothing leads to a mobile device: %s, and there is no cloud", s.Push.Reason)
	}
	return s, nil
}

// pushChannel is whether a message goes to the push gateway.
func (a *Agent) pushChannel(topic string) message.Channel {
	switch {
	case a.messages.gateway == nil:
		return message.Channel{State: message.Unused, Reason: "there is no push gateway: set push.url"}
	case topic == "":
		return message.Channel{State: message.Unused, Reason: "nobody knows a topic of the recipient at the push gateway"}
	}
	return message.Channel{State: message.Queued}
}

// putMessage stores a message with its row in the log.
func (a *Agent) putMessage(tx *store.Tx, s *storedMessage) error {
	data, err := json.Marshal(s.Message)
	if err != nil {
		return err
	}
	if s.Sequence, err = a.Events.PushAt(tx, a.Events.Row(levelMessage, s.CreatedAt, s.SpaceID, "", "", data)); err != nil {
		return err
	}
	return messages.Put(tx, s.ID, *s)
}

// Message returns one message.
func (a *Agent) Message(id string) (MessageInfo, error) {
	if !a.messages.has(id) {
		return MessageInfo{}, refuse(NotFound, "message_id", "is not a message of this gateway, or one that it has forgotten")
	}
	s, err := a.storedMessage(id)
	if err != nil {
		return MessageInfo{}, err
	}
	return a.messageInfo(s)
}

// Messages returns the messages of an organization, or of all if that is
// empty, the newest first, at most limit (0: 50, at most 200). The cursor that
// comes back leads to the next page; it is empty on the last.
func (a *Agent) Messages(organizationID string, limit int, cursor string) (page []MessageInfo, next string, err error) {
	before := ^uint64(0)
	if cursor != "" {
		if before, err = strconv.ParseUint(cursor, 36, 64); err != nil {
			return nil, "", refuse(Invalid, "cursor", "is not a cursor: send next_cursor of an earlier answer")
		}
	}
	if limit <= 0 {
		limit = messagePage
	}
	page = []MessageInfo{}
	found, more := a.messages.page(organizationID, before, min(limit, maxMessagePage))
	for _, p := range found {
		s, err := a.storedMessage(p.id)
		switch {
		case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrDamaged):
			continue // forgotten meanwhile, or lost
		case err != nil:
			return nil, "", err
		}
		info, err := a.messageInfo(s)
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

// storedMessage reads a message as it is now.
func (a *Agent) storedMessage(id string) (s storedMessage, err error) {
	a.messages.mu.Lock()
	s, newer := a.messages.unsaved[id]
	a.messages.mu.Unlock()
	if !newer {
		err = a.db.View(func(tx *store.Tx) error { s, err = messages.Get(tx, id); return err })
	}
	return s, err
}

// messageInfo says how a message fares.
func (a *Agent) messageInfo(s storedMessage) (info MessageInfo, err error) {
	info = MessageInfo{Message: s.Message, Channels: MessageChannels{Push: s.Push}}
	if p := a.messages.find(s.ID); p.id != "" && s.Push.Open() {
		info.Channels.Push.Attempts, info.Channels.Push.Reason = p.tries, p.reason
	}
	info.Channels.Cloud, err = a.cloudChannel(s.Sequence)
	return info, err
}

// cloudChannel is how a row of the log fares on its way up.
func (a *Agent) cloudChannel(sequence uint64) (c message.Channel, err error) {
	if a.config.Cloud.URL == "" {
		return message.Channel{State: message.Unused, Reason: "there is no cloud: set cloud.url"}, nil
	}
	acked, err := outbox{a}.Acked()
	if err != nil {
		return c, err
	}
	var oldest uint64
	err = a.db.View(func(tx *store.Tx) error { oldest, _, _ = a.Events.Bounds(tx); return nil })
	switch {
	case sequence <= acked:
		c.State = message.Sent
	case sequence < oldest:
		c.State, c.Reason = message.Failed, "the log was full before the cloud had taken it"
	case a.link.Connected():
		c.State = message.Queued
	default:
		c.State, c.Reason = message.Queued, "there is no link to the cloud"
	}
	return c, err
}

// byRequest finds the message of an earlier request; nil: there is none.
func (b *messageBook) byRequest(key string) *postedMessage {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.byKey[key]
}

func (b *messageBook) has(id string) bool { return b.find(id).id != "" }

// find returns what memory has of a message; the zero value if nothing.
func (b *messageBook) find(id string) postedMessage {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.byID[id]; p != nil {
		return *p
	}
	return postedMessage{}
}

// room refuses a message that the push gateway's queue has no room for, and
// any while old ones cannot be forgotten fast enough.
func (b *messageBook) room(organization string, pushed bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.list) >= 2*keepMessages {
		return refuse(Full, "", "too many messages came at once: try again in a minute")
	}
	all, own := 0, 0
	for _, p := range b.list {
		if p.push == message.Queued {
			all++
			if p.organization == organization {
				own++
			}
		}
	}
	if pushed && (all >= maxQueuedMessages || organization != "" && own >= maxQueuedMessagesOfOrg) {
		return refuse(Full, "", "%d messages wait for the push gateway, no more are taken: see why it takes none", all)
	}
	return nil
}

// show takes over messages that were stored.
func (b *messageBook) show(stored ...storedMessage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range stored {
		p := &postedMessage{id: s.ID, key: s.Key, organization: s.OrganizationID, sequence: s.Sequence, push: s.Push.State, posted: s.Posted, life: s.Life}
		at, _ := slices.BinarySearchFunc(b.list, p.sequence, func(p *postedMessage, sequence uint64) int {
			return int(min(max(int64(p.sequence-sequence), -1), 1))
		})
		b.list = slices.Insert(b.list, at, p)
		b.byID[p.id] = p
		if p.key != "" {
			b.byKey[p.key] = p
		}
	}
}

// page returns the newest messages before a sequence, and whether there are
// older ones.
func (b *messageBook) page(organization string, before uint64, limit int) (found []postedMessage, more bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range slices.Backward(b.list) {
		switch {
		case p.sequence >= before, organization != "" && p.organization != organization:
		case len(found) == limit:
			return found, true
		default:
			found = append(found, *p)
		}
	}
	return found, false
}
