package cloud

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// ErrUnacknowledged is what Receive returns for a message that is not acknowledged
// although it would not be better on another connection: the broker sends it
// again with the next one.
var ErrUnacknowledged = errors.New("the message is not acknowledged")

// ErrNotConnected is returned for a message that was not acknowledged because
// there is no connection, or because it was lost meanwhile: the broker may or
// may not have it.
var ErrNotConnected = errors.New("not connected to the broker")

// Link is one MQTT session. It is made by NewLink and works while Run runs.
type Link struct {
	o         LinkOptions
	brokers   []endpoint
	endpoint         // the one whose turn it is; only Run changes it
	at        int    // its place among them
	failed    int    // how many in turn could not be reached
	named     string // the brokers by At; empty: those of URL
	invalid   error
	duplicate duplicateID
	skips     *skips
	renew     chan struct{} // holds a token when the login is another

	mu      sync.Mutex
	session *session      // announced, or nil
	changed chan struct{} // closed when session changes
	trouble Trouble       // what was met last
	since   time.Time     // when the first of a row of troubles was met; zero: there is none
	told    time.Time     // when the log had it last
	looked  time.Time     // when the far end was last spoken to otherwise
	speaks  Cause         // what was seen then
	away    time.Time     // since when there is no session; by the monotonic clock
}

// NewLink makes a link. Options that cannot work are reported by Run.
func NewLink(o LinkOptions) *Link {
	l := &Link{o: o, skips: newSkips(), changed: make(chan struct{}), renew: make(chan struct{}, 1), away: time.Now()}
	if l.brokers, l.invalid = targets(o.URL); l.invalid == nil {
		l.endpoint = l.brokers[0]
	}
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
		cause, at, brief := l.judge(err)
		// A receiver that refuses would otherwise be asked at full speed, and two
		// that have one id throw each other out as fast.
		if announced && !brief && cause != CauseReceiver {
			try = 0
		}
		if n := l.Contested(); n > 0 && l.o.Own.Contested != nil {
			l.o.Own.Contested(ctx, n)
		}
		pause, from := l.pause(try, cause), l.address
		if l.turn(announced, brief || cause == CauseReceiver) {
			try, pause = try-1, 0
		}
		if t, tell := l.met(cause, at.topic, err); tell {
			l.o.Log.Warn("cloud link is down, trying again", "broker", from, "cause", t.Cause, "seen", t.Seen(),
				"reason", err, "times", t.Times, "since", t.Since.UTC().Format(time.RFC3339), "in", pause, "fix", t.Fix())
		}
		if !sleepUnless(ctx, pause, l.renew) {
			return nil
		}
	}
}

// judge is why a connection has ended or could not be made, and at what. brief says
// that the broker has closed it soon.
func (l *Link) judge(err error) (cause Cause, at act, brief bool) {
	var b broken
	if !errors.As(err, &b) {
		cause = causeOf(err, false)
		if cause == CauseUnreachable || cause == CauseNoAnswer || cause == CauseUnavailable {
			l.duplicate.away()
		}
		return cause, act{}, false
	}
	if brief = l.duplicate.ended(err, b.at); brief {
		cause, at = l.duplicate.verdict(l.o.Own.Topic != "")
		return cause, at, true
	}
	cause = causeOf(err, true)
	if cause == CauseMayNotRead {
		at = b.at
	}
	return cause, at, false
}

// broken is how a connection ended that was logged in.
type broken struct {
	at act
	error
}

func (b broken) Unwrap() error { return b.error }

// The longest pauses, if MaxBackoff is not shorter: after a broker that is there and
// has closed, and while none is. Half of all links are back within half of the one,
// and within 0.3 of the other once a broker is there again: in less than 5 s.
const (
	closedPause = 6 * time.Second
	awayPause   = 12 * time.Second
)

// pause is drawn from 0 to the spread, or to 1 s, 2 s, 4 s ... if that is more. How
// far it grows depends on the cause: what only a person can mend is asked seldom.
func (l *Link) pause(try int, cause Cause) time.Duration {
	longest := l.o.MaxBackoff
	switch cause {
	case CauseUnreachable:
		longest = awayPause
	case CauseNoAnswer, CauseUnavailable, CauseMayNotRead, CauseMayNotWrite, CauseClosed, CauseSilent:
		longest = closedPause
	}
	spread := time.Second
	if l.o.Spread != nil {
		spread = l.o.Spread()
	}
	if len(l.brokers) > 1 {
		spread -= spread / 4 // for the way to the next one, if the first does not answer
	}
	return rand.N(min(l.o.MaxBackoff, max(spread, min(longest, time.Second<<min(try, 16))))) + 1
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
	if err := l.locate(); err != nil {
		return false, err
	}
	s, err := l.open(ctx)
	if err != nil {
		return false, err
	}
	defer s.end()
	l.duplicate.began()
	if err := s.announce(ctx); err != nil {
		return false, broken{s.asked.unanswered(), err}
	}
	s.upAt = time.Now()
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
	l.lose(s)
	if err == nil {
		err = context.Cause(s.ctx)
	}
	if l.o.Down != nil {
		l.o.Down(err)
	}
	return true, broken{s.asked.unanswered(), err}
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
	if l.session = s; s == nil {
		l.away = time.Now()
	}
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

// Away is for how long there has been no connection, since NewLink at the longest;
// 0: there is one.
func (l *Link) Away() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session != nil && l.session.ctx.Err() == nil {
		return 0
	}
	return max(time.Since(l.away), 1)
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

// dial opens the connection and puts TLS on it.
func (l *Link) dial(ctx context.Context) (net.Conn, error) {
	conn, err := l.o.Dial(ctx, "tcp", l.address)
	if err != nil {
		return nil, fault{CauseUnreachable, fmt.Errorf("dial: %w", err)}
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
		if config.MinVersion == tls.VersionTLS13 && tlsCause(err) == CauseTLSVersion {
			err = fmt.Errorf("%w: the broker speaks no TLS 1.3, and nothing older is allowed here", err)
		}
		return nil, l.otherwise(ctx, fault{tlsCause(err), fmt.Errorf("TLS with %s: %w", l.address, err)})
	}
	return secure, nil
}

// credentials are the options' or, failing these, the URL's.
func (l *Link) credentials() (user, password string, err error) {
	if l.o.Login != nil {
		user, password, err = l.o.Login()
	}
	inURL, _ := l.url.User.Password()
	return cmp.Or(user, l.url.User.Username()), cmp.Or(password, inURL), err
}

// LoginAs is a Login of a user whose password is asked each time; nil: there is none.
func LoginAs(user string, password func() (string, error)) func() (string, string, error) {
	return func() (_, secret string, err error) {
		if password != nil {
			secret, err = password()
		}
		if err != nil {
			return "", "", fmt.Errorf("cloud password: %w", err)
		}
		return user, secret, nil
	}
}
