// Package mailtest is a mail relay for tests: a real SMTP server that keeps
// the letters which it took, and refuses what its script says.
package mailtest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"sync"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// Host is the name that the relay's certificate is for.
const Host = "relay.test"

// Options say what kind of relay it is. The zero value takes every letter over
// STARTTLS.
type Options struct {
	Implicit bool   // TLS from the first byte
	Bare     bool   // no encryption at all
	Password string // of the user "gateway"; empty: nobody is asked
	Login    bool   // offers LOGIN instead of PLAIN
	Pipe     bool   // reached by Dial only, for virtual time
	// Script answers a recipient; nil takes all. A *smtp.SMTPError is what the
	// relay says. It is asked with the recipient, and how many came before.
	Script func(to string, before int) error
}

// Letter is what was taken.
type Letter struct {
	From, To, Text string
	Encrypted      bool
	User           string
}

// Relay is a running relay.
type Relay struct {
	CAs      *x509.CertPool
	CAPEM    []byte // the same, as a file has it
	o        Options
	server   *smtp.Server
	listener net.Listener
	pipes    chan net.Conn
	once     sync.Once
	closed   chan struct{}
	ended    chan struct{}

	mu      sync.Mutex
	letters []Letter
	asked   int
	grown   chan struct{}
}

// Start starts a relay. Close ends it.
func Start(o Options) (*Relay, error) {
	r := &Relay{o: o, pipes: make(chan net.Conn), closed: make(chan struct{}), ended: make(chan struct{}), grown: make(chan struct{})}
	secure, err := r.certificate()
	if err != nil {
		return nil, err
	}
	r.server = smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		_, encrypted := c.TLSConnectionState()
		return &session{relay: r, letter: Letter{Encrypted: encrypted}}, nil
	}))
	r.server.Domain, r.server.AllowInsecureAuth = Host, o.Bare
	r.server.ErrorLog = log.New(io.Discard, "", 0)
	r.listener = pipeListener{r}
	if !o.Pipe {
		if r.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return nil, err
		}
	}
	listener := r.listener
	switch {
	case o.Implicit:
		listener = tls.NewListener(listener, secure)
	case !o.Bare:
		r.server.TLSConfig = secure
	}
	go func() {
		defer close(r.ended)
		_ = r.server.Serve(listener) // ends by Close
	}()
	return r, nil
}

// Dial reaches the relay, whatever address is asked for.
func (r *Relay) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	if !r.o.Pipe {
		return (&net.Dialer{}).DialContext(ctx, "tcp", r.Address())
	}
	near, far := net.Pipe()
	select {
	case r.pipes <- far:
		return near, nil
	case <-r.closed:
		return nil, errors.New("connection refused")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Address is where it listens.
func (r *Relay) Address() string { return r.listener.Addr().String() }

// Close ends the relay and its sessions. Closing twice is fine.
func (r *Relay) Close() {
	r.once.Do(func() {
		close(r.closed)
		_ = r.server.Close()
	})
	<-r.ended
}

// Letters are those that were taken so far.
func (r *Relay) Letters() []Letter {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Letter(nil), r.letters...)
}

// patience is how long Wait waits at most: in virtual time nothing else ends it.
const patience = 2 * time.Minute

// Wait waits until n letters were taken, or ctx ends.
func (r *Relay) Wait(ctx context.Context, n int) ([]Letter, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		r.mu.Lock()
		letters, grown := append([]Letter(nil), r.letters...), r.grown
		r.mu.Unlock()
		if len(letters) >= n {
			return letters, nil
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return letters, ctx.Err()
		}
	}
}

func (r *Relay) ask(to string) error {
	r.mu.Lock()
	before := r.asked
	r.asked++
	r.mu.Unlock()
	if r.o.Script == nil {
		return nil
	}
	return r.o.Script(to, before)
}

func (r *Relay) take(l Letter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.letters = append(r.letters, l)
	close(r.grown)
	r.grown = make(chan struct{})
}

// certificate makes one for Host that is valid for a very long time, because
// virtual time begins in 2000.
func (r *Relay) certificate() (*tls.Config, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: Host}, DNSNames: []string{Host},
		NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	r.CAPEM = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
	r.CAs = x509.NewCertPool()
	r.CAs.AppendCertsFromPEM(r.CAPEM)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}}, MinVersion: tls.VersionTLS12}, nil
}

// session is one client at the relay.
type session struct {
	relay  *Relay
	letter Letter
}

func (s *session) Reset()        { s.letter.From, s.letter.To = "", "" }
func (s *session) Logout() error { return nil }

func (s *session) AuthMechanisms() []string {
	switch {
	case s.relay.o.Password == "":
		return nil
	case s.relay.o.Login:
		return []string{"LOGIN"}
	}
	return []string{sasl.Plain}
}

func (s *session) Auth(mechanism string) (sasl.Server, error) {
	check := func(user, password string) error {
		if user != "gateway" || password != s.relay.o.Password {
			return smtp.ErrAuthFailed
		}
		s.letter.User = user
		return nil
	}
	if mechanism == "LOGIN" {
		return &loginServer{check: check}, nil
	}
	return sasl.NewPlainServer(func(_, user, password string) error { return check(user, password) }), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	if s.relay.o.Password != "" && s.letter.User == "" {
		return smtp.ErrAuthRequired
	}
	s.letter.From = from
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.letter.To = to
	return s.relay.ask(to)
}

func (s *session) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err == nil {
		s.letter.Text = string(text)
		s.relay.take(s.letter)
	}
	return err
}
