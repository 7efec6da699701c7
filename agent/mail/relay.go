package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/smtp"
	"slices"
	"strings"
	"time"
)

const (
	// sendTimeout bounds the handing over of one letter.
	sendTimeout = time.Minute
	// maxAnswers bounds what a relay may say while it takes a letter, in
	// bytes on the wire.
	maxAnswers = 256 << 10
)

// Relay is the server that takes letters.
type Relay struct {
	Address  string // host:port
	Implicit bool   // TLS from the first byte (RFC 8314 section 3.3); else STARTTLS (RFC 3207)
	// Plain speaks without encryption. It is for a relay on this machine only.
	Plain              bool
	Username, Password string // empty: none
	From               *mail.Address
	CAs                *x509.CertPool // nil: those of the system
	// Dial reaches the relay; nil: the network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Send hands over one letter. The error is always *Error.
func (r *Relay) Send(ctx context.Context, l Letter) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	host, _, err := net.SplitHostPort(r.Address)
	if err != nil {
		return l.failed(stageDial, err)
	}
	c, stage, err := r.connect(ctx, host)
	if err != nil {
		return l.failed(stage, because(ctx, err))
	}
	defer c.Close()
	if stage, err := r.speak(c, host, l); err != nil {
		return l.failed(stage, because(ctx, err))
	}
	return nil
}

// Look greets a relay, encrypts and signs in as for a letter, and then leaves.
// The error is always *Error.
func (r *Relay) Look(ctx context.Context) error {
	var none Letter
	host, _, err := net.SplitHostPort(r.Address)
	if err != nil {
		return none.failed(stageDial, err)
	}
	c, stage, err := r.connect(ctx, host)
	if err != nil {
		return none.failed(stage, because(ctx, err))
	}
	defer c.Close()
	if stage, err := r.greet(c, host); err != nil {
		return none.failed(stage, because(ctx, err))
	}
	c.leave()
	return nil
}

// because tells that time ran out, which shows as a closed connection.
func because(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// session is a client and the connection below it.
type session struct {
	*smtp.Client
	raw    net.Conn
	unwind func() bool
}

// Close ends the connection at once. To take leave in TLS too would mean to
// wait for a relay that has nothing more to say.
func (s *session) Close() {
	s.unwind()
	_ = s.raw.Close() // nothing more is expected of it
}

// leave says goodbye and waits for the answer (RFC 5321 section 4.1.1.10). The
// relay has the letter, whatever it says now.
func (s *session) leave() {
	if _, err := s.Text.Cmd("QUIT"); err == nil {
		_, _, _ = s.Text.ReadResponse(221)
	}
}

// connect reaches the relay and reads its greeting.
func (r *Relay) connect(ctx context.Context, host string) (*session, string, error) {
	dial := r.Dial
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	conn, err := dial(ctx, "tcp", r.Address)
	if err != nil {
		return nil, stageDial, err
	}
	raw := conn
	unwind := context.AfterFunc(ctx, func() { _ = raw.Close() })
	conn = &bounded{raw, maxAnswers}
	if r.Implicit {
		encrypted := tls.Client(conn, r.tls(host))
		if err := encrypted.HandshakeContext(ctx); err != nil {
			unwind()
			return nil, stageTLS, errors.Join(err, raw.Close())
		}
		conn = encrypted
	}
	c, err := smtp.NewClient(conn, host)
	if err != nil {
		unwind()
		return nil, stageGreeting, errors.Join(err, raw.Close())
	}
	return &session{c, raw, unwind}, "", nil
}

func (r *Relay) tls(host string) *tls.Config {
	return &tls.Config{ServerName: host, RootCAs: r.CAs, MinVersion: tls.VersionTLS12}
}

// greet says who we are in an open session, encrypts it and signs in.
func (r *Relay) greet(c *session, host string) (string, error) {
	if err := c.Hello(literal(c.raw.LocalAddr())); err != nil {
		return stageGreeting, err
	}
	if !r.Implicit && !r.Plain {
		if offered, _ := c.Extension("STARTTLS"); !offered {
			return stageTLS, errors.New("it offers no encryption, nothing was sent: use a relay with STARTTLS, or smtps://")
		}
		if err := c.StartTLS(r.tls(host)); err != nil {
			return stageTLS, err
		}
	}
	if err := r.auth(c); err != nil {
		return stageAuth, err
	}
	return "", nil
}

// speak hands over the letter in an open session.
func (r *Relay) speak(c *session, host string, l Letter) (string, error) {
	if stage, err := r.greet(c, host); err != nil {
		return stage, err
	}
	if err := c.Mail(r.From.Address); err != nil {
		return stageFrom, err
	}
	if err := c.Rcpt(l.To); err != nil {
		return stageTo, err
	}
	if err := give(c, l.encode(r.From)); err != nil {
		return stageData, err
	}
	c.leave()
	return "", nil
}

func give(c *session, text []byte) error {
	w, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	return w.Close()
}

// auth signs in, if there is a user, with what the relay offers.
func (r *Relay) auth(c *session) error {
	if r.Username == "" {
		return nil
	}
	_, list := c.Extension("AUTH")
	offered := strings.Fields(strings.ToUpper(list))
	switch {
	case slices.Contains(offered, "PLAIN"):
		return c.Auth(plain{r.Username, r.Password})
	case slices.Contains(offered, "LOGIN"):
		return c.Auth(&login{r.Username, r.Password})
	}
	return fmt.Errorf("it offers neither PLAIN nor LOGIN: leave smtp.username out, or use another relay")
}

// plain is RFC 4616. The session is encrypted, or on this machine.
type plain struct{ user, password string }

func (p plain) Start(*smtp.ServerInfo) (string, []byte, error) {
	return "PLAIN", []byte("\x00" + p.user + "\x00" + p.password), nil
}

func (p plain) Next(_ []byte, more bool) ([]byte, error) {
	if more {
		return nil, errors.New("it asks for more than PLAIN has")
	}
	return nil, nil
}

// login is what some relays have instead: the user, then the password.
type login struct{ user, password string }

func (l *login) Start(*smtp.ServerInfo) (string, []byte, error) { return "LOGIN", nil, nil }

func (l *login) Next(asked []byte, more bool) ([]byte, error) {
	if !more {
		return nil, nil
	}
	switch strings.ToLower(strings.TrimRight(string(asked), ": \x00")) {
	case "username", "user name":
		return []byte(l.user), nil
	case "password":
		return []byte(l.password), nil
	}
	return nil, errors.New("it asks for something that LOGIN does not have")
}

// literal is how a host without a name greets (RFC 5321 section 4.1.3).
func literal(a net.Addr) string {
	host, _, err := net.SplitHostPort(a.String())
	ip := net.ParseIP(host)
	switch {
	case err != nil || ip == nil:
		return "[127.0.0.1]"
	case ip.To4() == nil:
		return "[IPv6:" + ip.String() + "]"
	}
	return "[" + ip.String() + "]"
}

// bounded is a connection on which only so much is read.
type bounded struct {
	net.Conn
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errors.New("it says more than any relay has to")
	}
	n, err := b.Conn.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
