// Package broker is an embedded MQTT 3.1.1 broker: the broker of a building's
// room devices, and the stand-in cloud of a demo.
//
// # Why
//
// mochi-mqtt does the routing. Everything that a stranger can reach before and
// around it is ours, because as it comes a stranger can reserve its memory, a
// will passes by the access rules, whoever knows a client id inherits that
// client's session, and one subscriber that does not read stops everybody who
// publishes to it. So connections are accepted, counted and bounded here, each
// packet is checked before it is decoded, writes go to a buffer that never
// blocks the router, and a session belongs to one user. Nothing is stored on
// disk: the broker is a wire, not a queue, and what must not be lost has its own
// outbox.
//
// # Memory
//
// The bytes that wait for all clients together have one budget (Options.Budget):
// queues of absent sessions, messages that are not acknowledged, writes that slow
// clients have not taken, subscriptions, wills and retained messages, each with
// what the router needs for it. Beyond it sessions are forgotten. Besides, each
// of at most MaxClients connections has its buffers and one packet that it is
// sending, and each of as many sessions some kilobytes.
package broker

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
	"golang.org/x/sync/semaphore"

	"roomgate/cloud/guest"
)

// ErrBusy is returned by Publish when too many messages wait.
var ErrBusy = errors.New("broker is busy")

// ErrClosed is returned after Close.
var ErrClosed = errors.New("broker is closed")

// Options say who may connect where and do what.
//
// A client may have any client id but another user's name, or one that begins
// with it and a slash. Each user has client ids of his own: the same one of
// another user is another session. A keepalive of 0 or above 60 s is served as
// 60 s.
type Options struct {
	// Listen is host:port; empty: no socket, only Serve.
	Listen string
	// Users are passwords by user name: plain text, or hashed as
	// $pbkdf2-sha256$rounds$salt$key (RFC 8018).
	Users map[string]string
	// Password is that of a user who is not in Users, as one that was made since; nil: there
	// are none. It must not wait.
	Password func(name string) (password string, known bool)
	// AllowAnonymousLoopback lets clients of this machine in without a
	// password. Listening elsewhere without users is refused by Open.
	AllowAnonymousLoopback bool
	// ACL says whether a user (empty: anonymous) may publish to a topic
	// (write) or read it. For a subscription topic is the filter: answer true
	// only if all that it matches may be read. Nil: everything may. Topics
	// that begin with $ are nobody's.
	ACL func(user, topic string, write bool) bool
	// TLS, if set, is required of every client of Listen.
	TLS *tls.Config
	// MaxClients bounds the connections; 0: 200. An eighth is kept for clients that
	// have not logged in yet; who has shares the others fairly by user, and makes room
	// for no stranger. Sessions that wait for their client are bounded by the same number.
	MaxClients int
	// MaxPerAddress bounds the connections of one IPv4 address or IPv6 /64 other than
	// this machine that have not logged in yet; 0: 8.
	MaxPerAddress int
	// MaxPacket bounds a packet after CONNECT, in bytes; 0: 64 KiB.
	MaxPacket int
	// Budget bounds what waits in the broker for all clients together, in bytes;
	// 0: 8 MiB. Beyond it sessions are forgotten, those first that have been
	// without their client longest. Half of it may be retained messages.
	Budget int
	Log    *slog.Logger // nil: slog.Default()
}

// The bounds that are not options.
const (
	maxConnect       = 16 << 10 // bytes of a CONNECT, the will included
	maxTopic         = 1024     // bytes
	maxLevels        = 32       // of a topic
	maxSubscriptions = 256      // of one client
	maxRetained      = 4096     // messages
	maxPending       = 2 << 20  // bytes that wait for one client's socket
	maxInflight      = 2048     // messages sent to one client and not acknowledged
	maxKeepAlive     = 60       // seconds; a client must be heard of in 1.5 times this
	maxClientID      = 128      // bytes
	connectTime      = 5 * time.Second
	writeTime        = 5 * time.Second // for each piece of at most writePiece
	writePiece       = 32 << 10
	closeTime        = 5 * time.Second
	settleTime       = 500 * time.Millisecond
	queueLength      = 256 // of Publish
)

// entry is who may come in: places, tries of passwords, and who takes which session.
type entry struct {
	guesses  *guesses
	places   guest.Places
	ids      *ids
	refusals *refusals
}

// Broker is a running broker.
type Broker struct {
	o        Options
	server   *mqtt.Server
	listener net.Listener
	users    users
	retained retained
	gate     gate
	traffic  *semaphore.Weighted
	numbers  atomic.Int64 // the last one given
	entry
	budget   *budget
	leavings atomic.Int64 // counts the sessions whose clients have left
	log      *notes
	queue    chan func() error
	stop     chan struct{}
	work     sync.WaitGroup // the queue's worker
	serving  sync.WaitGroup // connections, and what flushes them

	mu     sync.Mutex
	closed bool
	conns  map[*conn]struct{}
	ending ending
}

// Open checks the options and takes the address; Run accepts clients there.
// Serve and Publish work from now on, until Close.
func Open(o Options) (*Broker, error) {
	o.MaxClients = cmp.Or(o.MaxClients, 200)
	o.MaxPerAddress = cmp.Or(o.MaxPerAddress, 8)
	o.MaxPacket = cmp.Or(o.MaxPacket, 64<<10)
	o.Budget = cmp.Or(o.Budget, 8<<20)
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	b := &Broker{
		o: o, users: newUsers(o.Users, o.Password), log: newNotes(o.Log), conns: map[*conn]struct{}{},
		queue: make(chan func() error, queueLength), stop: make(chan struct{}), ending: ending{done: make(chan struct{})},
		gate: gate{turn: make(chan struct{}, 1)}, traffic: semaphore.NewWeighted(allTraffic),
		budget: newBudget(o.Budget), entry: entry{newGuesses(), guest.Places{
			Most: o.MaxClients, Reserve: max(o.MaxClients/8, 1), Each: o.MaxPerAddress}, newIDs(), &refusals{}},
	}
	b.retained = retained{of: b.budget, most: o.Budget / 2}
	b.numbers.Store(firstNumber)
	if o.Listen != "" {
		var err error
		if b.listener, err = net.Listen("tcp", o.Listen); err != nil {
			return nil, fmt.Errorf("listen for MQTT: %w", err)
		}
	}
	if err := b.start(); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func (o *Options) check() error {
	for name, password := range o.Users {
		if name == "" || len(name) > 64 || strings.ContainsAny(name, "/+#$\x00") {
			return fmt.Errorf("broker user %q: want 1 to 64 characters without / + # $", name)
		}
		if password == "" {
			return fmt.Errorf("broker user %q has no password", name)
		}
		if err := checkHash(password); err != nil {
			return fmt.Errorf("broker user %q: %w", name, err)
		}
	}
	if len(o.Users) > 0 || o.Listen == "" {
		return nil
	}
	host, _, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return fmt.Errorf("broker address %q: want host:port", o.Listen)
	}
	if !isLoopback(host) {
		return fmt.Errorf("broker would listen on %s without credentials: add users, or listen on 127.0.0.1", o.Listen)
	}
	if !o.AllowAnonymousLoopback {
		return errors.New("broker has no users and lets nobody in without a password: add users")
	}
	return nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

// Addr is the address that Open took, nil without one.
func (b *Broker) Addr() net.Addr {
	if b.listener == nil {
		return nil
	}
	return b.listener.Addr()
}

// Run accepts clients until ctx ends or Close is called, then closes. It
// returns nil when it ends as asked.
func (b *Broker) Run(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { _ = b.Close() })()
	var err error
	if b.listener != nil {
		err = b.accept()
	} else {
		select {
		case <-ctx.Done():
		case <-b.stop:
		}
	}
	return errors.Join(err, b.Close())
}

// Publish sends a message to whom it may concern, from a queue of its own: it
// returns at once, with ErrBusy when the queue is full. qos is 0 or 1. The
// payload must not be changed afterwards.
func (b *Broker) Publish(topic string, payload []byte, retain bool, qos byte) error {
	if !validTopic(topic) || qos > 1 || len(payload) > b.o.MaxPacket {
		return fmt.Errorf("broker cannot publish to %q: check topic, QoS and size", topic)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return ErrClosed
	}
	select {
	case b.queue <- func() error { return b.publish(topic, payload, retain, qos) }:
		return nil
	default:
		return ErrBusy
	}
}

// publish hands a message of our own to the router.
func (b *Broker) publish(topic string, payload []byte, retain bool, qos byte) error {
	_ = b.traffic.Acquire(context.Background(), oneMessage)
	defer b.traffic.Release(oneMessage)
	if retain {
		b.gate.enter(nobody)
		defer b.gate.leave(nobody)
	}
	return b.server.Publish(topic, payload, retain, qos)
}

// nobody is inside the gate for a message of our own.
var nobody = new(mqtt.Client)

// start brings up the router, the worker of Publish and the one that keeps the
// budget.
func (b *Broker) start() error {
	if err := b.newServer(); err != nil {
		return err
	}
	b.work.Go(b.relieve)
	b.work.Go(func() {
		for {
			select {
			case <-b.stop:
				return
			case publish := <-b.queue:
				if err := publish(); err != nil {
					b.log.warn("broker message was not published", "reason", err)
				}
			}
		}
	})
	return nil
}

// Close ends all clients and the broker. It is idempotent, and gives up after
// about 10 s if the router does not end.
func (b *Broker) Close() error {
	return b.ending.once(b.close)
}

// close ends the connections before the router, whose own way of closing
// races with clients that come and go.
func (b *Broker) close() error {
	b.mu.Lock()
	b.closed = true
	conns := make([]*conn, 0, len(b.conns))
	for c := range b.conns {
		conns = append(conns, c)
	}
	b.mu.Unlock()
	close(b.stop)
	if b.listener != nil {
		_ = b.listener.Close()
	}
	settle(conns)
	for _, c := range conns {
		c.cut()
	}
	if !within(closeTime, func() { b.serving.Wait(); b.work.Wait() }) {
		return errors.New("broker clients did not end in time")
	}
	if b.server != nil && !within(closeTime, func() { _ = b.server.Close() }) {
		return errors.New("broker did not end in time")
	}
	return nil
}

// within says whether f ended in time.
func within(d time.Duration, f func()) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}
