// Package session keeps one MQTT 3.1.1 connection up, for the drivers of
// devices that speak through a broker.
//
// # Why
//
// The MQTT client's own way of coming back sends late what was ordered before
// a loss, calls an order done that was never acknowledged, and calls all peers
// again at the same instants. So every connection has a client of its own,
// nothing survives it, and a token proves no more than a write: what a device
// did, it has to report. What a broker sends is checked before the client
// sees it (guard.go).
package session

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"roomgate/drivers"
)

const (
	connectTimeout = 10 * time.Second
	keepAlive      = 15 * time.Second
	pingTimeout    = 5 * time.Second
	quiesce        = 250 // ms for a clean goodbye

	backoffFirst = 500 * time.Millisecond
	backoffLast  = 15 * time.Second

	subscribeRefused = 0x80 // SUBACK return code, MQTT 3.1.1, 3.9.3
)

// Options are a session's broker and what is done with it. Up, Tend and Down
// are called by Run, one at a time; Receive is called by the client's reader
// and must return at once.
type Options struct {
	Peer         string // what the broker is called in errors, as "hub"
	Address      string // host:port
	ClientID     string
	Username     string // empty: no login
	Password     func() (string, error)
	Filters      []string      // what is subscribed to
	WriteTimeout time.Duration // for each packet

	// Up tells of a connection, before the first message on it.
	Up func()
	// Receive gets every message. A retained one may be of any age.
	Receive func(topic string, payload []byte, retained bool)
	// Skipped tells of a message that was too large to be received; nil: it is
	// of no interest. As with Receive, it must return at once.
	Skipped func(TooLarge)
	// Tend looks after a connection that is subscribed. renew subscribes
	// again. It returns when ctx ends, or sooner to have the connection ended.
	Tend func(ctx context.Context, renew func(context.Context) error) error
	// Down tells why a connection ended or could not be made, and says
	// whether it was good for anything: if so, the next one is tried soon.
	Down func(cause error) (good bool)
}

// Message is what a session sends.
type Message struct {
	Topic   string
	Payload []byte
}

// Session is a connection that comes back.
type Session struct {
	o      Options
	buses  drivers.Buses
	client atomic.Pointer[mqtt.Client] // of the connection that is up, or nil
	// joining is closed when the connection that is up is subscribed, or is not any more; nil: there is none like that.
	joining atomic.Pointer[chan struct{}]
}

// New returns a session that does nothing before Run.
func New(o Options, b drivers.Buses) *Session { return &Session{o: o, buses: b} }

// NewID returns a client id that nobody else has, of as many characters as
// every broker takes (MQTT 3.1.1, 3.1.3.1).
func NewID() string { return "roomgate-" + strings.ToLower(rand.Text()[:12]) }

// ValidAddress says whether an address is host:port.
func ValidAddress(address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" {
		return false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0
}

// Run connects again and again until ctx ends.
func (s *Session) Run(ctx context.Context) {
	defer s.o.Down(drivers.ErrClosed)
	for failures := 0; ; failures++ {
		if s.once(ctx) {
			failures = 0
		}
		if ctx.Err() != nil {
			return
		}
		sleep(ctx, backoff(failures))
	}
}

// backoff is half fixed and half random, so that brokers that went down
// together are not called together.
func backoff(failures int) time.Duration {
	d := min(backoffFirst<<min(failures, 10), backoffLast)
	return d/2 + mathrand.N(d/2)
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// once is one connection from dial to loss.
func (s *Session) once(ctx context.Context) (good bool) {
	// The connection outlives ctx by the goodbye, and no more.
	alive, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	impatient := context.AfterFunc(ctx, cancel)
	up, lost := context.WithCancelCause(ctx)
	defer lost(nil)
	c, err := s.connect(alive, lost)
	if err != nil {
		return s.o.Down(s.ended(err))
	}
	defer c.Disconnect(quiesce)
	if !impatient() {
		return false
	}
	joined := s.join()
	s.o.Up() // before the subscription, whose first message may come at once
	renew := func(ctx context.Context) error { return s.subscribe(ctx, c) }
	err = renew(up)
	if err == nil {
		s.client.Store(&c)
	}
	joined()
	if err == nil {
		err = s.o.Tend(up, renew)
		s.client.Store(nil)
	}
	return s.o.Down(s.ended(err)) // at once: the goodbye may take its time
}

// ended is why a connection is lost, for people: the end of a stream is the other side's.
func (s *Session) ended(err error) error {
	if errors.Is(err, io.EOF) && !errors.Is(err, drivers.ErrPassword) {
		return fmt.Errorf("%s at %s has closed the connection", s.o.Peer, s.o.Address)
	}
	return err
}

// join lets who sends wait, until what it returns is called.
func (s *Session) join() (joined func()) {
	joining := make(chan struct{})
	s.joining.Store(&joining)
	return func() {
		s.joining.Store(nil)
		close(joining)
	}
}

// connected is the connection that is subscribed. One that is about to be is waited for: its first message, which may
// have come already, tells everybody that the device is there. nil: there is none.
func (s *Session) connected(ctx context.Context) *mqtt.Client {
	if joining := s.joining.Load(); joining != nil && s.client.Load() == nil {
		Until(ctx, *joining, s.o.WriteTimeout)
	}
	return s.client.Load()
}

func (s *Session) connect(ctx context.Context, lost context.CancelCauseFunc) (mqtt.Client, error) {
	var unreachable error // as the client words it
	o := mqtt.NewClientOptions().
		AddBroker("tcp://peer"). // never looked at: dial knows the address
		SetCustomOpenConnectionFn(func(*url.URL, mqtt.ClientOptions) (c net.Conn, _ error) {
			c, unreachable = s.dial(ctx, lost)
			return c, unreachable
		}).
		SetClientID(s.o.ClientID).
		SetProtocolVersion(4). // 3.1.1 only: no second attempt with 3.1
		SetCleanSession(true).
		SetAutoReconnect(false).
		SetConnectRetry(false).
		SetConnectTimeout(connectTimeout).
		SetWriteTimeout(s.o.WriteTimeout).
		SetKeepAlive(keepAlive).
		SetPingTimeout(pingTimeout).
		SetDefaultPublishHandler(s.receive).
		SetConnectionLostHandler(func(_ mqtt.Client, err error) { lost(err) })
	if s.o.Username != "" {
		password, err := s.o.Password()
		if err != nil {
			return nil, err
		}
		o.SetUsername(s.o.Username).SetPassword(password)
	}
	c := mqtt.NewClient(o)
	token := c.Connect()
	<-token.Done() // bounded by connectTimeout, cut short when ctx ends: see dial
	if err := token.Error(); err != nil {
		if Refused(err) {
			return nil, fmt.Errorf("%s at %s refuses user %q %w: %w", s.o.Peer, s.o.Address, s.o.Username, drivers.ErrPassword, err)
		}
		return nil, fmt.Errorf("connect to %s at %s: %w", s.o.Peer, s.o.Address, cmp.Or(unreachable, err))
	}
	return c, nil
}

func (s *Session) dial(ctx context.Context, lost context.CancelCauseFunc) (net.Conn, error) {
	dialing, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := s.buses.Dial(dialing, "tcp", s.o.Address)
	if err != nil {
		return nil, err
	}
	// The end of the session ends its connection, whatever the client does.
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	// Told here too, as the client tells of a loss only once it has tidied up.
	return newGuard(conn, lost, s.skipped), nil
}

// subscribe asks for one filter at a time: see guard.go.
func (s *Session) subscribe(ctx context.Context, c mqtt.Client) error {
	for _, filter := range s.o.Filters {
		token, ok := c.Subscribe(filter, 0, nil).(*mqtt.SubscribeToken)
		if !ok {
			return fmt.Errorf("subscribe at %s: no token", s.o.Peer)
		}
		if err := wait(ctx, token, connectTimeout); err != nil {
			return fmt.Errorf("subscribe to %s at %s: %w", filter, s.o.Peer, err)
		}
		if token.Result()[filter] == subscribeRefused {
			return fmt.Errorf("%s refuses the subscription to %s: check user name and topic", s.o.Peer, filter)
		}
	}
	return nil
}

func wait(ctx context.Context, t mqtt.Token, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	select {
	case <-t.Done():
		return t.Error()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *Session) skipped(m TooLarge) {
	if s.o.Skipped != nil {
		s.o.Skipped(m)
	}
}

func (s *Session) receive(_ mqtt.Client, m mqtt.Message) {
	s.o.Receive(m.Topic(), m.Payload(), m.Retained())
}

// Send writes messages, in their order, with QoS 0 and not retained. An error
// means that nothing certain is known about the last one; between two
// connections it is drivers.ErrOffline, and nothing was sent.
func (s *Session) Send(ctx context.Context, messages ...Message) error {
	c := s.connected(ctx)
	if c == nil {
		return fmt.Errorf("%w: not connected", drivers.ErrOffline)
	}
	for _, m := range messages {
		token := (*c).Publish(m.Topic, 0, false, m.Payload)
		if err := wait(ctx, token, s.o.WriteTimeout); err != nil {
			return fmt.Errorf("send to %s: %w", s.o.Peer, err)
		}
	}
	return nil
}
