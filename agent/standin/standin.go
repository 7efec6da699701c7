// Package standin is a cloud for anybody who has none: the backend of the demo and
// of "roomgate cloud serve". It keeps the schedule of each meeting space as a
// cloud does, and merges what the building says by the same rules. It keeps
// nothing over a restart.
package standin

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/message"
	"roomgate/cloud"
	"roomgate/cloud/backend"
)

// Cloud is a backend with the schedules of the meeting spaces. Its methods may be
// called at the same time.
type Cloud struct {
	backend *backend.Backend
	gateway string // that a space nobody has spoken of belongs to
	log     *slog.Logger
	queue   chan toSend

	mu     sync.Mutex
	spaces map[string]*plan
}

// plan is one space's schedule as the cloud has it.
type plan struct {
	gateway  string
	revision uint64
	bookings map[string]booking.Booking
	forgot   bool // the building has heard more than this cloud knows
}

// toSend is a schedule on its way to a gateway.
type toSend struct {
	gateway string
	backend.Schedule
}

// Options say which broker the cloud uses and which gateway it speaks for.
type Options struct {
	URL string // of the broker: mqtt://host or mqtts://host
	// Gateway has the meeting spaces of which no gateway has spoken yet; empty:
	// what is booked in them reaches nobody.
	Gateway string
	Log     *slog.Logger
}

// New checks the options. Run connects.
func New(o Options) (*Cloud, error) {
	b, err := backend.Open(backend.Options{URL: o.URL, ClientID: "demo-backend", Workers: 1, Log: o.Log}) // one gateway needs one worker
	if err != nil {
		return nil, err
	}
	return &Cloud{backend: b, gateway: o.Gateway, log: o.Log, queue: make(chan toSend, 256), spaces: map[string]*plan{}}, nil
}

// Run consumes what gateways say, and sends what they have to know, until ctx
// ends.
func (c *Cloud) Run(ctx context.Context) error {
	var sender sync.WaitGroup
	sender.Go(func() { c.send(ctx) })
	defer sender.Wait()
	return c.backend.Consume(ctx, backend.NewMemory(), c.consume)
}

// settleTime is how long a gateway waits for its stand-in cloud at most.
const settleTime = 5 * time.Second

// Settle waits until the cloud hears, while Run runs: rows that a gateway sends before go
// to nobody, and are acknowledged only after they have been asked for.
func (c *Cloud) Settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	if err := c.backend.Settle(ctx); err != nil {
		c.log.Warn("the stand-in cloud does not hear yet, the gateway starts without it", "reason", err)
	}
}

func (c *Cloud) send(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-c.queue:
			if _, err := c.backend.Schedule(ctx, s.gateway, s.Schedule); err != nil && ctx.Err() == nil {
				c.log.Warn("the stand-in cloud could not send a schedule", "error", err)
			}
		}
	}
}

// consume takes one message of the building.
func (c *Cloud) consume(_ context.Context, _ backend.Tx, r backend.Received) error {
	gateway, level, e := r.Gateway, r.Level, r.Envelope
	switch level {
	case cloud.LevelEvent, cloud.LevelReceipt, cloud.LevelBooking, cloud.LevelMessage:
		c.log.Info("cloud received", "gateway", gateway, "type", e.Type, "sequence", e.Sequence, "subject", e.Subject)
	}
	switch {
	case level == cloud.LevelMessage:
		c.deliver(e)
	case level == cloud.LevelBooking:
		c.hear(gateway, e)
	case e.Type == "roomgate.event.snapshotWanted":
		c.snapshot(gateway, e)
	case e.Type == "roomgate.state":
		c.learn(gateway, e)
	}
	return nil
}

// deliver brings a message to a mobile device, as far as a stand-in can.
func (c *Cloud) deliver(e cloud.Envelope) {
	var m message.Message
	if err := json.Unmarshal(e.Data, &m); err != nil {
		c.log.Warn("the stand-in cloud cannot read a message", "error", err)
		return
	}
	c.log.Info("cloud tells a mobile device", "message", m.ID, "to", cmp.Or(m.To.Email, m.To.Topic), "title", m.Title, "priority", m.Priority)
}

// hear merges a booking that the building has made or changed, and sends what
// the building does not have like that.
func (c *Cloud) hear(gateway string, e cloud.Envelope) {
	var b booking.Booking
	if err := json.Unmarshal(e.Data, &b); err != nil {
		c.log.Warn("the stand-in cloud cannot read a booking", "error", err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.spokenOf(gateway, b.SpaceID)
	said := b
	if said.CloudRevision == 0 {
		said.CloudRevision = p.revision + 1 // known from now on
	}
	changed, tell := booking.Merge(p.find, p.live, []booking.Booking{said})
	for _, b := range changed {
		p.bookings[b.ID] = b
		if b.State == booking.Displaced {
			c.log.Info("cloud tells an organizer that a booking was displaced", "booking", b.ID, "reason", b.Reason)
		}
	}
	if said.CloudRevision != b.CloudRevision && !slices.ContainsFunc(tell, func(t booking.Booking) bool { return t.ID == b.ID }) {
		tell = append(tell, p.bookings[b.ID])
	}
	if len(tell) > 0 {
		c.push(b.SpaceID, backend.Delta, tell)
	}
}

// learn takes the revision that a building already has: a stand-in remembers
// nothing from the last time.
func (c *Cloud) learn(gateway string, e cloud.Envelope) {
	var s struct {
		Space    string `json:"meeting_space_id"`
		Revision uint64 `json:"schedule_revision"`
	}
	if json.Unmarshal(e.Data, &s) != nil || s.Space == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spokenOf(gateway, s.Space).learn(s.Revision)
}

// learn takes a revision that the building has.
func (p *plan) learn(revision uint64) {
	p.forgot = p.forgot || revision > p.revision
	p.revision = max(p.revision, revision)
}

// snapshot sends everything that is booked in a space. A snapshot takes back what is not in it, so a cloud that has forgotten some of it
// adds what it knows.
func (c *Cloud) snapshot(gateway string, e cloud.Envelope) {
	var wanted struct {
		Details struct {
			Have uint64 `json:"have"`
		} `json:"details"`
	}
	_ = json.Unmarshal(e.Data, &wanted) // if it does not say so, it has nothing
	c.mu.Lock()
	defer c.mu.Unlock()
	p, kind := c.spokenOf(gateway, e.Subject), backend.Snapshot
	if p.learn(wanted.Details.Have); p.forgot {
		kind = backend.Delta
		p.revision = cmp.Or(wanted.Details.Have, p.revision) // what it has not taken since then is in this one
	}
	c.push(e.Subject, kind, slices.Collect(maps.Values(p.bookings)))
}

// push queues a schedule under the next revision. The caller has the lock.
func (c *Cloud) push(space, kind string, bookings []booking.Booking) {
	p := c.of(space)
	p.revision++
	s := backend.Schedule{MeetingSpaceID: space, Revision: p.revision, Kind: kind}
	for _, b := range bookings {
		data, err := json.Marshal(b)
		if err != nil {
			c.log.Warn("a booking cannot be sent", "booking", b.ID, "error", err)
			continue
		}
		s.Bookings = append(s.Bookings, data)
	}
	select {
	case c.queue <- toSend{p.gateway, s}:
	default: // the building finds the gap and asks for a snapshot
		c.log.Warn("the stand-in cloud has too much to send and drops a schedule", "revision", s.Revision)
	}
}

// spokenOf is the plan of a space of which a gateway has spoken.
func (c *Cloud) spokenOf(gateway, space string) *plan {
	p := c.of(space)
	p.gateway = gateway
	return p
}

func (c *Cloud) of(space string) *plan {
	p := c.spaces[space]
	if p == nil {
		p = &plan{gateway: c.gateway, bookings: map[string]booking.Booking{}}
		c.spaces[space] = p
	}
	return p
}

func (p *plan) find(id string) (booking.Booking, bool) {
	b, ok := p.bookings[id]
	return b, ok
}

// live walks the live bookings.
func (p *plan) live(each func(*booking.Booking) bool) {
	for _, b := range p.bookings {
		if b.Live() && !each(&b) {
			return
		}
	}
}
