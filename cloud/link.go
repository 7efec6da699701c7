package cloud

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"
)

// ErrNotConnected is returned for a message that was not acknowledged because
// there is no connection, or because it was lost meanwhile: the broker may or
// may not have it.
var ErrNotConnected = errors.New("not connected to the broker")

// Link is one MQTT session. It is made by NewLink and works while Run runs.
type Link struct {
	o         LinkOptions
	url       *url.URL
	address   string
	invalid   error
	duplicate duplicateID
	renew     chan struct{} // holds a token when the login is another

	mu      sync.Mutex
	session *session      // announced, or nil
	changed chan struct{} // closed when session changes
}

// NewLink makes a link. Options that cannot work are reported by Run.
func NewLink(o LinkOptions) *Link {
	l := &Link{o: o, changed: make(chan struct{}), renew: make(chan struct{}, 1)}
	l.url, l.address, l.invalid = target(o.URL)
	if l.invalid == nil && o.ClientID == "" {
		l.invalid = errors.New("link has no client id: name the session")
	}
	if l.o.MaxBackoff <= 0 {
		l.o.MaxBackoff = time.Minute
	}
	l.duplicate.soon = l.o.MaxBackoff
	if l.o.Dial == nil {
		l.o.Dial = (&net.Dialer{}).DialContext
	}
	if l.o.Log == nil {
		l.o.Log = slog.Default()
	}
	return l
}

// Run keeps the link connected until ctx ends, then says farewell and
// returns nil. It returns an error at once if the options cannot work. One
// Run at a time.
func (l *Link) Run(ctx context.Context) error {
	if l.invalid != nil {
		return l.invalid
	}
	for try := 0; ; try++ {
		announced, err := l.once(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if errors.Is(err, errRenewed) {
			l.o.Log.Info("cloud link logs in again", "broker", l.address)
			try = -1
			continue
		}
		// A receiver that refuses would otherwise be asked at full speed, and two
		// that have one id throw each other out as fast.
		refused := errors.As(err, new(refusal))
		if announced && !l.duplicate.ended(err) && !refused {
			try = 0
		}
		if n := l.Contested(); n > 0 && l.o.Contested != nil {
			l.o.Contested(ctx, n)
		}
		pause := l.pause(try)
		l.o.Log.Warn("cloud link is down, trying again", "broker", l.address, "reason", err, "in", pause)
		if !sleepUnless(ctx, pause, l.renew) {
			return nil
		}
	}
}

// pause is drawn from 0 to 1 s, 2 s, 4 s ... MaxBackoff.
func (l *Link) pause(try int) time.Duration {
	return rand.N(min(l.o.MaxBackoff, time.Second<<min(try, 16))) + 1
}

// errRenewed ends a connection whose login is no longer the right one.
var errRenewed = errors.New("the login has changed")

// Renew says that Login has something else to say: a connection is ended in
// good order, and the next begins at once.
func (l *Link) Renew() {
	select {
	case l.renew <- struct{}{}:
	default: // it will be
	}
}

// sleep is false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool { return sleepUnless(ctx, d, nil) }

// sleepUnless is sleep that may end early.
func sleepUnless(ctx context.Context, d time.Duration, early <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-early:
		return true
	case <-ctx.Done():
		return false
	}
}

// once is the life of one connection; err says why it ended.
func (l *Link) once(ctx context.Context) (announced bool, err error) {
	select {
	case <-l.renew: // what Login says now is what is used
	default:
	}
	s, err := l.open(ctx)
	if err != nil {
		return false, err
	}
	defer s.end()
	if err := s.announce(ctx); err != nil {
		return false, err
	}
	l.duplicate.began()
	l.set(s)
	l.o.Log.Info("cloud link is up", "broker", l.address)
	if l.o.Up != nil {
		l.o.Up(s.ctx)
	}
	select {
	case <-s.ctx.Done():
	case <-l.renew:
		l.farewell(ctx, s)
		err = errRenewed
	case <-ctx.Done():
		l.farewell(ctx, s)
	}
	l.set(nil)
	if err == nil {
		err = context.Cause(s.ctx)
	}
	if l.o.Down != nil {
		l.o.Down(err)
	}
	return true, err
}

// farewell leaves in good order, so that the will stays unsaid.
func (l *Link) farewell(ctx context.Context, s *session) {
	if l.o.Farewell != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewellTime)
		defer cancel()
		if err := s.publish(ctx, l.o.Farewell()); err != nil {
			l.o.Log.Warn("cloud link could not say farewell", "broker", l.address, "reason", err)
		}
	}
	s.client.Disconnect(uint(handTime / time.Millisecond))
	s.fail(context.Cause(ctx))
}

func (l *Link) set(s *session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.session = s
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *Link) current() (*session, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.session, l.changed
}

// await returns the next live session, or nil when ctx ends.
func (l *Link) await(ctx context.Context) *session {
	for {
		s, changed := l.current()
		if ctx.Err() == nil && s != nil && s.ctx.Err() == nil {
			return s
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

// Connected says whether a connection is up and announced.
func (l *Link) Connected() bool {
	s, _ := l.current()
	return s != nil && s.ctx.Err() == nil
}

// Publish sends a message. With QoS 1 it returns nil only after the broker's
// PUBACK for it on this very connection; with QoS 0 once it is written.
// Without a connection it returns ErrNotConnected at once. The payload must
// not be changed before it returns.
func (l *Link) Publish(ctx context.Context, m Message) error {
	s, _ := l.current()
	if s == nil {
		return ErrNotConnected
	}
	if err := m.check(); err != nil {
		return err
	}
	return s.publish(ctx, m)
}

// PublishAsync is Publish without the wait: done is called exactly once, with
// what Publish would return, possibly before PublishAsync returns. It must not
// block. PublishAsync itself may wait for the socket.
func (l *Link) PublishAsync(m Message, done func(error)) {
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

// dial opens the connection and puts TLS on it.
func (l *Link) dial(ctx context.Context) (net.Conn, error) {
	conn, err := l.o.Dial(ctx, "tcp", l.address)
	if err != nil {
		return nil, fmt.Errorf("dial: %w", err)
	}
	if l.url.Scheme != "mqtts" {
		return conn, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if l.o.TLS != nil {
		config = l.o.TLS.Clone()
	}
	if config.ServerName == "" {
		config.ServerName = l.url.Hostname()
	}
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		if config.MinVersion == tls.VersionTLS13 && strings.Contains(err.Error(), "protocol version") {
			err = fmt.Errorf("%w: the broker speaks no TLS 1.3, and nothing older is allowed here", err)
		}
		return nil, fmt.Errorf("TLS with %s: %w", l.address, err)
	}
	return secure, nil
}

// credentials are the options' or, failing these, the URL's.
func (l *Link) credentials() (user, password string, err error) {
	if l.o.Login != nil {
		return l.o.Login()
	}
	user = l.o.Username
	if user == "" && l.url.User != nil {
		user = l.url.User.Username()
		password, _ = l.url.User.Password()
	}
	if l.o.Password != nil {
		if password, err = l.o.Password(); err != nil {
			return "", "", fmt.Errorf("cloud password: %w", err)
		}
	}
	return user, password, nil
}
