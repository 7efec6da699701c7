// Package backend is the client that a cloud backend imports to command
// gateways and to consume what they send.
//
//	b, err := backend.Open(backend.Options{URL: "mqtts://broker", ClientID: "backend"})
//	ledger, err := backend.OpenFile("ledger.db")
//	go b.Consume(ctx, ledger, func(ctx context.Context, tx backend.Tx, r backend.Received) error { ... })
//	receipt, err := b.Command(ctx, "hq", backend.Command{MeetingSpaceID: s, DeviceType: "light", Action: "on"})
//
// # Why
//
// A gateway sends every outbox row at least once and forgets it when the
// backend says so. So the backend keeps, per gateway, which sequences it has
// handed on, in a Ledger: it hands each on once, acknowledges as far as there
// is no gap, and asks for what is missing. A PUBACK of the broker is proof of
// nothing, a receipt of the gateway is.
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
	"golang.org/x/time/rate"

	"roomgate/cloud"
)

// ErrRunning is returned by a second Run or Consume at the same time.
var ErrRunning = errors.New("backend is running already")

// Options say where the backend connects. URL and ClientID are required.
type Options struct {
	URL      string // mqtt://host or mqtts://host, or several with commas between
	ClientID string // the session at the broker
	Username string
	Password func() (string, error)
	TLS      *tls.Config
	Dial     func(ctx context.Context, network, addr string) (net.Conn, error) // nil: a net.Dialer
	// AckEvery is the least pause between two acknowledgements to a gateway;
	// 0: 200 ms.
	AckEvery time.Duration
	// Gateway is whose messages are consumed; empty: those of every gateway, as with a Source.
	Gateway string
	// Workers is how many call the handler at the same time, 1 to 64; 0: 4.
	Workers int
	// Source brings what gateways send; nil: the session at the broker does.
	Source Source
	// Signer signs commands and configurations; nil: nothing is signed.
	Signer *Signer
	Log    *slog.Logger // nil: slog.Default()
}

// Backend is one session of a cloud backend.
type Backend struct {
	o    Options
	warn *rate.Limiter // of messages that nobody can read: whoever may write may write many

	mu       sync.Mutex
	link     *cloud.Link // while running
	up       chan struct{}
	progress map[string]*progress // as it is committed, by gateway
	kept     map[string]string    // id of the retained message last handed on, by topic
	waiting  map[string]*waiter   // who waits for a receipt, by the id of the command
	fleet    map[string]*Gateway  // what gateways have said of themselves
	consumes bool                 // somebody hears them
}

// Open checks the options. Run or Consume connects.
func Open(o Options) (*Backend, error) {
	if err := cloud.CheckURL(o.URL); err != nil {
		return nil, err
	}
	if o.ClientID == "" {
		return nil, errors.New("backend has no client id: name the session")
	}
	if o.Source != nil && o.Gateway != "" {
		return nil, errors.New("a source brings the messages of every gateway: name none")
	}
	o.Gateway, o.Workers = cmp.Or(o.Gateway, "+"), min(max(cmp.Or(o.Workers, 4), 1), 64)
	o.AckEvery = cmp.Or(o.AckEvery, 200*time.Millisecond)
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return &Backend{o: o, warn: rate.NewLimiter(rate.Every(10*time.Second), 10), up: make(chan struct{}), progress: map[string]*progress{}, kept: map[string]string{},
		waiting: map[string]*waiter{}, fleet: map[string]*Gateway{}}, nil
}

// Run keeps the backend connected, for sending only, until ctx ends.
func (b *Backend) Run(ctx context.Context) error { return b.run(ctx, nil, func(string, span) {}, nil) }

func (b *Backend) run(ctx context.Context, subscribe []string, giveUp func(string, span), deliver func(context.Context, cloud.Message, func())) error {
	link := cloud.NewLink(cloud.LinkOptions{
		URL: b.o.URL, ClientID: b.o.ClientID, Login: cloud.LoginAs(b.o.Username, b.o.Password),
		TLS: b.o.TLS, Dial: b.o.Dial, Log: b.o.Log, Subscribe: subscribe, Deliver: deliver,
		Fleeting: b.o.Source != nil,
		Up:       func(context.Context) { b.connected(true) },
		Down:     func(error) { b.connected(false) },
	})
	if !b.begin(link, deliver != nil) {
		return ErrRunning
	}
	defer b.begin(nil, false)
	acks, stop := context.WithCancel(ctx)
	var loops sync.WaitGroup
	loops.Go(func() { b.acknowledge(acks, link, giveUp) })
	defer loops.Wait()
	defer stop()
	return link.Run(ctx)
}

// begin sets or clears the link.
func (b *Backend) begin(link *cloud.Link, consumes bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if link != nil && b.link != nil {
		return false
	}
	b.link, b.consumes = link, consumes
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

// Settle waits until the backend is connected and hears what gateways send, or ctx ends.
func (b *Backend) Settle(ctx context.Context) error {
	_, err := b.await(ctx)
	return err
}

// Push sends data on a gateway's down/level and returns the message's id. It
// waits for a connection as long as ctx allows, and sends again, under the
// same id, if the connection is lost before the broker has acknowledged.
// down/config is retained, nothing else is.
func (b *Backend) Push(ctx context.Context, gateway, level string, data any) (id string, err error) {
	m, id, err := b.message(gateway, level, cloud.Topics{Gateway: gateway}.Down(level), data)
	if err != nil {
		return "", err
	}
	if err := b.deliver(ctx, gateway, level, m); err != nil {
		return "", err
	}
	return id, nil
}

// deliver sends a message until the broker has acknowledged it.
func (b *Backend) deliver(ctx context.Context, gateway, level string, m cloud.Message) error {
	for {
		link, err := b.await(ctx)
		if err != nil {
			return fmt.Errorf("send %s to %s: %w", level, gateway, err)
		}
		err = link.Publish(ctx, m)
		if err == nil {
			return nil
		}
		if !errors.Is(err, cloud.ErrNotConnected) {
			return fmt.Errorf("send %s to %s: %w", level, gateway, err)
		}
		select { // the gate may not be shut yet
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Replay asks a gateway to send its rows from and to again; to is 0 for all.
func (b *Backend) Replay(ctx context.Context, gateway string, from, to uint64) error {
	_, err := b.Push(ctx, gateway, cloud.LevelReplay, replay{from, to})
	return err
}

type replay struct {
	From uint64 `json:"from"`
	To   uint64 `json:"to,omitempty"`
}

type ack struct {
	Sequence uint64 `json:"sequence"`
}

func (b *Backend) message(gateway, level, topic string, data any) (m cloud.Message, id string, err error) {
	if !cloud.ValidGateway(gateway) {
		return m, "", noGateway(gateway)
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return m, "", fmt.Errorf("encode %s: %w", level, err)
	}
	id = ulid.Make().String()
	m, err = b.envelope(level, Part{id, topic, raw})
	return m, id, err
}

func noGateway(id string) error {
	return fmt.Errorf("gateway %q: want an id of 1 to 64 letters, digits, dots, dashes and underscores", id)
}

// envelope is the message of a part.
func (b *Backend) envelope(level string, part Part) (m cloud.Message, err error) {
	payload, err := b.o.Signer.Encode(part.Topic, cloud.Envelope{
		ID: part.ID, Source: "backend/" + b.o.ClientID, Type: cloud.TypeOf(level),
		Time: time.Now().UTC(), Data: part.Data,
	})
	return cloud.Message{Topic: part.Topic, Payload: payload, QoS: 1, Retained: level == cloud.LevelConfig}, err
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
			if !b.running() { // else it has begun meanwhile
				return nil, errors.New("backend is not running")
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (b *Backend) running() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.link != nil
}
