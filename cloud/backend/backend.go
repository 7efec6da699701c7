// Package backend is the client that a cloud backend imports to command
// gateways and to consume what they send.
//
//	b, err := backend.Open(backend.Options{URL: "mqtts://broker", ClientID: "backend"})
//	go b.Consume(ctx, "+", func(gateway, level string, e cloud.Envelope) error { ... })
//	id, err := b.Command(ctx, "hq", backend.Command{MeetingSpaceID: s, DeviceType: "lock", Action: "open"})
//
// # Why
//
// A gateway sends every outbox row at least once and forgets it when the
// backend says so. So the backend keeps, per gateway, which sequences it has
// handed on: it hands each on once, acknowledges as far as there is no gap,
// and asks for what is missing. It keeps this in memory: after a restart a row
// may come again, with the id it had.
package backend

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"roomgate/cloud"
)

// ErrRunning is returned by a second Run or Consume at the same time.
var ErrRunning = errors.New("backend is running already")

// Options say where the backend connects. URL and ClientID are required.
type Options struct {
	URL      string // mqtt://host or mqtts://host
	ClientID string // the session at the broker
	Username string
	Password func() (string, error)
	TLS      *tls.Config
	Dial     func(ctx context.Context, network, addr string) (net.Conn, error) // nil: a net.Dialer
	// AckEvery is the least pause between two acknowledgements to a gateway;
	// 0: 200 ms.
	AckEvery time.Duration
	// Signer signs commands and configurations; nil: nothing is signed.
	Signer *Signer
	Log    *slog.Logger // nil: slog.Default()
}

// Command is an order to a device of a gateway.
type Command struct {
	MeetingSpaceID string          `json:"meeting_space_id"`
	DeviceType     string          `json:"device_type"`
	SubDevice      string          `json:"sub_device,omitempty"`
	Action         string          `json:"action"`
	Value          json.RawMessage `json:"value,omitempty"`
	ExpiresAt      time.Time       `json:"expires_at,omitzero"`
	// TTL is in seconds from the message's time, 0.001 to 86400; 0: the gateway's
	// usual. What unlocks may be at most a minute ahead, by either.
	TTL float64 `json:"ttl_s,omitempty"`
}

// usualLife is how long a signed command is wanted that does not say.
const usualLife = 30 * time.Second

// dated is a command that says until when it is wanted by a clock: one that counts
// from its arrival would be as fresh whenever it comes.
func (c Command) dated(now time.Time) Command {
	if !c.ExpiresAt.IsZero() {
		return c
	}
	life := usualLife
	if c.TTL > 0 {
		life = time.Duration(c.TTL * float64(time.Second))
	}
	c.ExpiresAt, c.TTL = now.UTC().Add(life), 0
	return c
}

// Backend is one session of a cloud backend.
type Backend struct {
	o Options

	mu      sync.Mutex
	link    *cloud.Link // while running
	up      chan struct{}
	ledgers map[string]*ledger
	kept    map[string]string // id of the retained message last handed on, by topic
}

// Open checks the options. Run or Consume connects.
func Open(o Options) (*Backend, error) {
	if err := cloud.CheckURL(o.URL); err != nil {
		return nil, err
	}
	if o.ClientID == "" {
		return nil, errors.New("backend has no client id: name the session")
	}
	o.AckEvery = cmp.Or(o.AckEvery, 200*time.Millisecond)
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return &Backend{o: o, up: make(chan struct{}), ledgers: map[string]*ledger{}, kept: map[string]string{}}, nil
}

// Run keeps the backend connected, for sending only, until ctx ends.
func (b *Backend) Run(ctx context.Context) error { return b.run(ctx, nil, nil) }

// Consume keeps the backend connected until ctx ends and hands on what a
// gateway, or with "+" every gateway, sends: each outbox row once, in the
// order of arrival. level is the topic below up/, as "event" or
// "state/{meeting_space_id}". An error makes the broker send the message
// again; nil acknowledges it, to the gateway too.
func (b *Backend) Consume(ctx context.Context, gateway string, f func(gateway, level string, e cloud.Envelope) error) error {
	if gateway != "+" && !cloud.ValidGateway(gateway) {
		return fmt.Errorf("gateway %q: want an id of 1 to 64 letters, digits, - _ . or + for all", gateway)
	}
	receive := func(_ context.Context, m cloud.Message) error { return b.receive(m, f) }
	return b.run(ctx, []string{cloud.Topics{Gateway: gateway}.Up("#")}, receive)
}

func (b *Backend) run(ctx context.Context, subscribe []string, receive func(context.Context, cloud.Message) error) error {
	link := cloud.NewLink(cloud.LinkOptions{
		URL: b.o.URL, ClientID: b.o.ClientID, Username: b.o.Username, Password: b.o.Password,
		TLS: b.o.TLS, Dial: b.o.Dial, Log: b.o.Log, Subscribe: subscribe, Receive: receive,
		Up:   func(context.Context) { b.connected(true) },
		Down: func(error) { b.connected(false) },
	})
	if !b.begin(link) {
		return ErrRunning
	}
	defer b.begin(nil)
	acks, stop := context.WithCancel(ctx)
	var loops sync.WaitGroup
	loops.Go(func() { b.acknowledge(acks, link) })
	defer loops.Wait()
	defer stop()
	return link.Run(ctx)
}

// begin sets or clears the link.
func (b *Backend) begin(link *cloud.Link) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if link != nil && b.link != nil {
		return false
	}
	b.link = link
	return true
}

// connected opens or shuts the gate for those who send.
func (b *Backend) connected(up bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if up {
		close(b.up)
		return
	}
	b.up = make(chan struct{})
}

// Command sends a command and returns its id, under which receipts come. A signed
// one that says not until when it is wanted gets an ExpiresAt by its TTL, or half
// a minute ahead.
func (b *Backend) Command(ctx context.Context, gateway string, c Command) (id string, err error) {
	if b.o.Signer != nil {
		c = c.dated(time.Now())
	}
	return b.Push(ctx, gateway, "command", c)
}

// Push sends data on a gateway's down/level and returns the message's id. It
// waits for a connection as long as ctx allows, and sends again, under the
// same id, if the connection is lost before the broker has acknowledged.
// down/config is retained, nothing else is.
func (b *Backend) Push(ctx context.Context, gateway, level string, data any) (id string, err error) {
	m, id, err := b.message(gateway, level, data)
	if err != nil {
		return "", err
	}
	for {
		link, err := b.await(ctx)
		if err != nil {
			return "", fmt.Errorf("send %s to %s: %w", level, gateway, err)
		}
		err = link.Publish(ctx, m)
		if err == nil {
			return id, nil
		}
		if !errors.Is(err, cloud.ErrNotConnected) {
			return "", fmt.Errorf("send %s to %s: %w", level, gateway, err)
		}
		select { // the gate may not be shut yet
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Replay asks a gateway to send its rows from and to again; to is 0 for all.
func (b *Backend) Replay(ctx context.Context, gateway string, from, to uint64) error {
	_, err := b.Push(ctx, gateway, "replay", replay{from, to})
	return err
}

type replay struct {
	From uint64 `json:"from"`
	To   uint64 `json:"to,omitempty"`
}

type ack struct {
	Sequence uint64 `json:"sequence"`
}

func (b *Backend) message(gateway, level string, data any) (m cloud.Message, id string, err error) {
	if !cloud.ValidGateway(gateway) {
		return m, "", fmt.Errorf("gateway %q: want an id of 1 to 64 letters, digits, dots, dashes and underscores", gateway)
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return m, "", fmt.Errorf("encode %s: %w", level, err)
	}
	e := cloud.Envelope{
		ID: ulid.Make().String(), Source: "backend/" + b.o.ClientID, Type: cloud.TypeOf(level),
		Time: time.Now().UTC(), Data: raw,
	}
	topic := cloud.Topics{Gateway: gateway}.Down(level)
	payload, err := b.o.Signer.Encode(topic, e)
	if err != nil {
		return m, "", err
	}
	return cloud.Message{Topic: topic, Payload: payload, QoS: 1, Retained: level == "config"}, e.ID, nil
}

// await waits until the link is up.
func (b *Backend) await(ctx context.Context) (*cloud.Link, error) {
	for {
		b.mu.Lock()
		link, up := b.link, b.up
		b.mu.Unlock()
		select {
		case <-up:
			if link != nil {
				return link, nil
			}
			return nil, errors.New("backend is not running")
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
