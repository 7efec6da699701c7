package cloud

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"sync"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"
	"golang.org/x/sync/semaphore"

	"roomgate/cloud/internal/frame"
)

// What waits for Receive: more than this and the socket is no longer read.
const (
	inboxMessages = 256
	inboxBytes    = 2 * maxPacket
)

// maxFlying bounds the messages without PUBACK. The client has 65 535 ids and
// searches them one by one.
const maxFlying = 4096

// handTime is how long the client waits for its own writer before it gives a
// message back. It also bounds how long a lost session lingers.
const handTime = time.Second

// session is one connection of a link, from CONNECT until it is lost.
type session struct {
	link   *Link
	ctx    context.Context // ends when the connection is lost, with the cause
	lose   context.CancelCauseFunc
	conn   net.Conn
	client mqtt.Client
	proofs *proofs
	post   chan letter
	flying chan struct{} // one token per QoS 1 message without PUBACK
	inbox  chan mqtt.Message
	budget *semaphore.Weighted
	asked  asked
	later  later
	upAt   time.Time // when it was announced
	loops  sync.WaitGroup
	closed bool // subscriptions are closed: no further SUBACK is due
	mu     sync.Mutex
}

// letter is a message on its way to the client.
type letter struct {
	Message
	done func(error)
}

// refusal is the cause of a session that Receive ended.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

// open connects: dial, TLS, CONNECT, CONNACK, all within connectTimeout.
func (l *Link) open(ctx context.Context) (*session, error) {
	dialing, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := l.dial(dialing)
	if err != nil {
		return nil, err
	}
	s := &session{
		link: l, conn: conn, proofs: newProofs(), post: make(chan letter), flying: make(chan struct{}, maxFlying),
		inbox: make(chan mqtt.Message, inboxMessages), budget: semaphore.NewWeighted(inboxBytes), later: later{ready: make(chan struct{}, 1)},
	}
	s.ctx, s.lose = context.WithCancelCause(context.WithoutCancel(ctx))
	o, err := l.clientOptions(s)
	if err != nil {
		s.fail(err)
		return nil, fault{CauseMisconfigured, err}
	}
	s.client = mqtt.NewClient(o)
	s.loops.Go(s.sendLoop)
	s.loops.Go(s.receiveLoop)
	s.loops.Go(s.laterLoop)
	stop := context.AfterFunc(dialing, func() { s.fail(context.Cause(dialing)) })
	defer stop()
	token := s.client.Connect()
	<-token.Done() // the connection is closed if it takes too long
	if err := token.Error(); err != nil {
		s.fail(err)
		s.end()
		return nil, l.otherwise(ctx, fmt.Errorf("connect: %w", refine(err, s.ctx)))
	}
	return s, nil
}

// refine prefers the cause that ended the connection to the client's wording.
func refine(err error, ctx context.Context) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, err) {
		return fmt.Errorf("%w (%w)", cause, err)
	}
	return err
}

func (l *Link) clientOptions(s *session) (*mqtt.ClientOptions, error) {
	o := mqtt.NewClientOptions().AddBroker("tcp://" + l.address).SetClientID(l.o.ClientID)
	o.SetProtocolVersion(4).SetCleanSession(l.o.Fleeting).SetOrderMatters(true)
	o.SetAutoReconnect(false).SetConnectRetry(false).SetResumeSubs(false)
	o.SetAutoAckDisabled(true).SetStore(s.proofs).SetDefaultPublishHandler(s.arrived)
	o.SetKeepAlive(keepAlive).SetPingTimeout(2 * pingTimeout) // the wire gives up before, and says why
	o.SetConnectTimeout(connectTimeout).SetWriteTimeout(handTime)
	o.SetConnectionLostHandler(func(_ mqtt.Client, err error) { s.fail(err) })
	o.SetCustomOpenConnectionFn(func(*url.URL, mqtt.ClientOptions) (net.Conn, error) {
		return newWire(s.conn, s.fail, s.seen, s.link.skipped), nil
	})
	if l.o.Will != nil {
		w := l.o.Will()
		o.SetBinaryWill(w.Topic, w.Payload, w.QoS, w.Retained)
	}
	user, password, err := l.credentials()
	if err != nil {
		return nil, err
	}
	return o.SetUsername(user).SetPassword(password), nil
}

// seen refuses an answer that no request waits for: the client would take
// it for the end of whatever else has that packet id.
func (s *session) seen(kind byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed && (kind == frame.Suback || kind == frame.Unsuback) {
		return fmt.Errorf("%w: SUBACK or UNSUBACK without a request", frame.ErrFrame)
	}
	return nil
}

// fail ends the session. The first cause is kept.
func (s *session) fail(err error) {
	s.lose(err)
	_ = s.conn.Close()
}

// end waits for everything that the session started.
func (s *session) end() {
	s.fail(errLost)
	s.client.Disconnect(uint(2 * handTime / time.Millisecond))
	s.loops.Wait()
	s.proofs.fail(s.lost())
}

// lost is the error for what the connection took with it.
func (s *session) lost() error {
	return fmt.Errorf("%w: %w", ErrNotConnected, context.Cause(s.ctx))
}

// arrived is called by the client for each message, in order. It waits when
// the receiver is far behind, which stops the reading of the socket.
func (s *session) arrived(_ mqtt.Client, m mqtt.Message) {
	if s.budget.Acquire(s.ctx, int64(len(m.Payload()))) != nil {
		return
	}
	select {
	case s.inbox <- m:
	case <-s.ctx.Done():
	}
}

// receiveLoop hands messages to the receiver and acknowledges what it took.
func (s *session) receiveLoop() {
	for {
		select {
		case <-s.ctx.Done():
			return
		case m := <-s.inbox:
			if s.link.o.Deliver != nil {
				s.deliver(m)
				continue
			}
			err := s.receive(m)
			if err != nil && !errors.Is(err, ErrUnacknowledged) {
				s.fail(refusal{err})
				return
			}
			s.budget.Release(int64(len(m.Payload())))
			if err == nil {
				m.Ack()
			}
		}
	}
}

func (s *session) receive(m mqtt.Message) error {
	if own := s.link.o.Own; own.Topic != "" && m.Topic() == own.Topic {
		s.link.duplicate.saw(own.Mine(Message{Topic: own.Topic, Payload: m.Payload(), Retained: m.Retained()}))
		return nil
	}
	if s.link.o.Receive == nil {
		return nil
	}
	return s.link.o.Receive(s.ctx, Message{
		Topic: m.Topic(), Payload: m.Payload(), QoS: m.Qos(), Retained: m.Retained(), Duplicate: m.Duplicate(),
	})
}

// send hands a message over; done is called exactly once.
func (s *session) send(ctx context.Context, m Message, done func(error)) {
	select {
	case s.post <- letter{m, done}:
	case <-s.ctx.Done():
		done(s.lost())
	case <-ctx.Done():
		done(context.Cause(ctx))
	}
}

func (s *session) sendLoop() {
	for {
		select {
		case <-s.ctx.Done():
			return
		case l := <-s.post:
			s.hand(l)
		}
	}
}

// hand gives a letter to the client. The client gives it back unsent when its
// writer is busy for handTime; while the connection lives it is tried again.
func (s *session) hand(l letter) {
	if l.QoS == 0 {
		l.done(s.written(s.client.Publish(l.Topic, 0, l.Retained, l.Payload)))
		return
	}
	select {
	case s.flying <- struct{}{}:
	case <-s.ctx.Done():
		l.done(s.lost())
		return
	}
	asks := act{true, l.Topic}
	s.asked.ask(asks)
	done := func(err error) {
		if err == nil {
			s.asked.answer(asks)
		}
		<-s.flying
		l.done(err)
	}
	for done != nil {
		if s.ctx.Err() != nil {
			done(s.lost())
			return
		}
		s.proofs.expect(done)
		done = s.unsent(s.client.Publish(l.Topic, l.QoS, l.Retained, l.Payload))
	}
}

// unsent is the done of a message that the client did not take, or nil.
func (s *session) unsent(token mqtt.Token) func(error) {
	select {
	case <-token.Done():
	default:
		return nil
	}
	if token.Error() == nil {
		return nil // acknowledged already
	}
	if !s.client.IsConnectionOpen() {
		s.fail(token.Error())
	}
	return s.proofs.withdraw("o." + strconv.Itoa(int(token.(*mqtt.PublishToken).MessageID())))
}

// written waits until a QoS 0 message is on the socket.
func (s *session) written(token mqtt.Token) error {
	select {
	case <-token.Done():
	case <-s.ctx.Done():
		return s.lost()
	}
	if err := token.Error(); err != nil {
		return fmt.Errorf("%w: %w", ErrNotConnected, err)
	}
	return nil
}

// publish is send and wait.
func (s *session) publish(ctx context.Context, m Message) error {
	done := make(chan error, 1)
	s.send(ctx, m, func(err error) { done <- err })
	select {
	case err := <-done:
		return err
	case <-s.ctx.Done():
		select {
		case err := <-done:
			return err
		default:
			return s.lost()
		}
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// announce subscribes and publishes the birth.
func (s *session) announce(ctx context.Context) error {
	for _, filter := range s.link.o.Subscribe {
		if err := s.subscribe(ctx, filter, 1); err != nil {
			return fmt.Errorf("subscribe to %s: %w", filter, err)
		}
	}
	if err := s.unsubscribe(ctx); err != nil {
		return fmt.Errorf("unsubscribe: %w", err)
	}
	if err := s.readOwn(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	if s.link.o.Birth == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, subackTimeout)
	defer cancel()
	if err := s.publish(ctx, s.link.o.Birth()); err != nil {
		return fmt.Errorf("publish birth: %w", err)
	}
	return nil
}

// readOwn reads the topic that only this client writes, once the broker has closed
// so often that there may be two. It is no error if it may not.
func (s *session) readOwn(ctx context.Context) error {
	own := s.link.o.Own.Topic
	if own == "" || !s.link.duplicate.suspected() {
		return nil
	}
	err := s.subscribe(ctx, own, 0)
	s.link.duplicate.reading(err == nil)
	if err == nil {
		return nil
	}
	if errors.Is(err, errMayNotRead) {
		s.asked.answer(act{false, own})
		return nil
	}
	return fmt.Errorf("subscribe to %s: %w", own, err)
}

// unsubscribe takes back what an earlier version has subscribed to.
func (s *session) unsubscribe(ctx context.Context) error {
	if len(s.link.o.Unsubscribe) == 0 {
		return nil
	}
	return s.granted(ctx, s.client.Unsubscribe(s.link.o.Unsubscribe...))
}

func (s *session) subscribe(ctx context.Context, filter string, qos byte) error {
	s.asked.ask(act{false, filter})
	token := s.client.Subscribe(filter, qos, nil)
	if err := s.granted(ctx, token); err != nil {
		return err
	}
	for _, code := range token.(*mqtt.SubscribeToken).Result() {
		if code <= 1 {
			s.asked.answer(act{false, filter})
			return nil
		}
	}
	return errMayNotRead
}

// granted waits for the answer to a request.
func (s *session) granted(ctx context.Context, token mqtt.Token) error {
	ctx, cancel := context.WithTimeout(ctx, subackTimeout)
	defer cancel()
	select {
	case <-token.Done():
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := token.Error(); err != nil {
		return refine(err, s.ctx)
	}
	return nil
}
