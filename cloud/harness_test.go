package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"
	"go.uber.org/goleak"

	"roomgate/cloud/broker"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

var errUnplugged = errors.New("network is unplugged")

// cable is a network of one wire, which can be cut and unplugged.
type cable struct {
	serve func(net.Conn) // runs on its own goroutine
	mu    sync.Mutex
	ends  []net.Conn
	out   bool
	dials int
	wg    sync.WaitGroup
}

func newCable(t *testing.T, serve func(net.Conn)) *cable {
	c := &cable{serve: serve}
	t.Cleanup(func() {
		c.cut()
		c.wg.Wait()
	})
	return c
}

func (c *cable) dial(context.Context, string, string) (net.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dials++
	if c.out {
		return nil, errUnplugged
	}
	near, far := net.Pipe()
	c.ends = append(c.ends, near, far)
	c.wg.Go(func() { c.serve(far) })
	return near, nil
}

// dialled is how many connections were tried.
func (c *cable) dialled() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dials
}

func (c *cable) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.ends {
		_ = e.Close()
	}
	c.ends = nil
}

func (c *cable) unplug(out bool) {
	c.mu.Lock()
	c.out = out
	c.mu.Unlock()
	if out {
		c.cut()
	}
}

// inBubble runs f in virtual time.
func inBubble(t *testing.T, f func(t *testing.T, ctx context.Context)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		f(t, ctx)
	})
}

// newBroker is an embedded broker and the cable to it.
func newBroker(t *testing.T) (*broker.Broker, *cable) {
	t.Helper()
	b, err := broker.Open(broker.Options{AllowAnonymousLoopback: true, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b, newCable(t, func(c net.Conn) { _ = b.Serve(c) })
}

// run starts a loop and returns what ends it and waits for it.
func run(t *testing.T, f func(context.Context) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f(ctx) }()
	return sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("loop ended with %v", err)
		}
	})
}

// mailbox keeps what a link receives.
type mailbox struct {
	mu  sync.Mutex
	got []Message
	err error // returned instead of taking the message
	try int
}

func (m *mailbox) receive(_ context.Context, msg Message) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.try++
	if m.err != nil {
		return m.err
	}
	m.got = append(m.got, msg)
	return nil
}

func (m *mailbox) refuse(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err = err
}

func (m *mailbox) payloads() (p []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, msg := range m.got {
		p = append(p, string(msg.Payload))
	}
	return p
}

func (m *mailbox) tries() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.try
}

// rows is an outbox in memory that watches over its contract.
type rows struct {
	mu       sync.Mutex
	all      []Outgoing
	gone     uint64
	forgets  int
	failNext error
}

func (r *rows) add(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.append(n)
}

func (r *rows) append(n int) {
	for range n {
		seq := uint64(len(r.all) + 1)
		r.all = append(r.all, Outgoing{seq, Message{Topic: "up/event", Payload: fmt.Append(nil, seq), QoS: 1}})
	}
}

// addSpoiled adds rows of which one is unfit to be sent, and lets the next read
// fail: nobody sees them otherwise.
func (r *rows) addSpoiled(n int, seq uint64, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.append(n)
	r.all[seq-1].Topic, r.failNext = "a/#", err
}

func (r *rows) Next(after uint64, limit int) ([]Outgoing, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.failNext; err != nil {
		r.failNext = nil
		return nil, err
	}
	return slices.Clone(r.after(max(after, r.gone), limit)), nil
}

// history also has what was forgotten.
func (r *rows) history(after uint64, limit int) ([]Outgoing, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.after(after, limit)), nil
}

func (r *rows) after(after uint64, limit int) []Outgoing {
	rest := r.all[min(after, uint64(len(r.all))):]
	return rest[:min(limit, len(rest))]
}

func (r *rows) Forget(ctx context.Context, upTo uint64) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gone = max(r.gone, upTo)
	r.forgets++
	return nil
}

// steps is in how many steps rows were forgotten.
func (r *rows) steps() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.forgets
}

func (r *rows) forgotten() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.gone
}

// script is the far end of a connection, packet by packet.
type script struct {
	t    *testing.T
	conn net.Conn
}

// read returns the next packet, nil at the end.
func (s script) read() packets.ControlPacket {
	p, err := packets.ReadPacket(s.conn)
	if err != nil {
		return nil
	}
	return p
}

func (s script) write(b ...byte) { _, _ = s.conn.Write(b) }

// accept answers CONNECT.
func (s script) accept() bool {
	if _, ok := s.read().(*packets.ConnectPacket); !ok {
		return false
	}
	s.write(0x20, 2, 0, 0)
	return true
}

// ack answers a PUBLISH or SUBSCRIBE, and a ping.
func (s script) ack(p packets.ControlPacket) {
	switch p := p.(type) {
	case *packets.PublishPacket:
		s.write(0x40, 2, byte(p.MessageID>>8), byte(p.MessageID))
	case *packets.SubscribePacket:
		s.write(0x90, 3, byte(p.MessageID>>8), byte(p.MessageID), 1)
	case *packets.PingreqPacket:
		s.write(0xD0, 0)
	}
}

// soon is enough for everything that waits for no clock, and for one
// reconnection.
const soon = 3 * time.Second

// publishAsync is Publish without the wait: done is called exactly once, with
// what Publish would return, possibly before publishAsync returns. It must not
// block. publishAsync itself may wait for the socket.
func (l *Link) publishAsync(m Message, done func(error)) {
	s, _ := l.current()
	if s == nil {
		done(ErrNotConnected)
		return
	}
	if err := m.check(); err != nil {
		done(err)
		return
	}
	s.send(context.Background(), m, done)
}
