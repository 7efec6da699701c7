// Package outgoing is the one way out of the gateway by HTTP: webhooks,
// calendars, push messages and updates use its client.
//
// Anybody who may name a target is told as little as needed. A target that a
// tenant names (an API key, the cloud) is judged by the address that is about to be
// connected, after DNS and on every redirect, and a failure of one that is not
// in the internet is Hidden: one sentence, whatever it was. A target of the
// owner's configuration may be anywhere. In both cases time, redirects and the
// size of an answer are bounded, and no proxy of the environment is used: one
// would dial for us where the policy cannot see.
package outgoing

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"
)

const (
	// stageTimeout bounds each stage of a request: looking up and connecting,
	// the handshake, and from the request to the head of its answer.
	stageTimeout = 10 * time.Second
	maxHeader    = 64 << 10 // bytes of the head of an answer
)

// Options of a client.
type Options struct {
	Policy Policy
	// Timeout bounds a whole request with its answer; 0: only its context does.
	Timeout time.Duration
	// MaxBody is how much of an answer can be read, in bytes on the wire; more
	// is ErrTooLarge.
	MaxBody int64
	// Authorities are the certificate authorities to trust; nil: the system's.
	Authorities *x509.CertPool
}

// ErrTooLarge is returned on reading an answer that is larger than allowed.
var ErrTooLarge = errors.New("the answer is too large")

// ErrRedirect is returned when a redirect is not followed.
var ErrRedirect = errors.New("redirect refused")

// New returns a client that goes where its policy allows. It follows no
// redirect, unless its CheckRedirect is set to what Redirects returns.
func New(o Options) *http.Client { return newClient(o, newGuard(o.Policy), nil) }

func newClient(o Options, g *guard, resolver *net.Resolver) *http.Client {
	dialer := &net.Dialer{Timeout: stageTimeout, KeepAlive: -1, Resolver: resolver, ControlContext: g.control}
	return &http.Client{Timeout: o.Timeout, CheckRedirect: Redirects(0), Transport: &transport{guard: g, most: o.MaxBody, Transport: &http.Transport{
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: o.Authorities, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    stageTimeout,
		ResponseHeaderTimeout:  stageTimeout,
		MaxResponseHeaderBytes: maxHeader,
		MaxConnsPerHost:        4,
		MaxIdleConns:           16,
		MaxIdleConnsPerHost:    1,
		IdleConnTimeout:        30 * time.Second,
		DisableCompression:     true, // a small answer must not unpack to a large one
	}}}
}

// Redirects is a CheckRedirect that follows at most so many, never out of
// https. The server may not choose a password, nor learn where we came from.
// With 0 the redirect itself is the answer.
func Redirects(most int) func(*http.Request, []*http.Request) error {
	return func(r *http.Request, via []*http.Request) error {
		switch {
		case most == 0:
			return http.ErrUseLastResponse
		case len(via) > most:
			return fmt.Errorf("%w: more than %d of them", ErrRedirect, most)
		case r.URL.Scheme != "http" && r.URL.Scheme != "https" || r.URL.Hostname() == "":
			return fmt.Errorf("%w: it leads to an address that is not http or https", ErrRedirect)
		case via[len(via)-1].URL.Scheme == "https" && r.URL.Scheme == "http":
			return fmt.Errorf("%w: it leads from https to http", ErrRedirect)
		}
		r.URL.User = nil
		r.Header.Del("Referer")
		return nil
	}
}

// transport bounds the answers of another, and hides what happens in a network
// that is not the asker's business.
type transport struct {
	*http.Transport
	guard *guard
	most  int64
}

// RoundTrip makes one request.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if numeric(hostOf(r.URL)) { // registered by an earlier version, or where a redirect leads
		return nil, fmt.Errorf("the address %w", errNumeric)
	}
	var seen trail
	if !t.guard.policy.Anywhere {
		r = r.WithContext(seen.follow(r.Context(), t.guard))
	}
	resp, err := t.Transport.RoundTrip(r)
	switch {
	case err == nil:
		resp.Body = &bounded{resp.Body, t.most}
	case !t.guard.policy.Anywhere && seen.hides() && !lost(err):
		return nil, &Hidden{err}
	}
	return resp, err
}

// lost says that names cannot be looked up now. That is the gateway's own trouble
// and tells nothing of the target.
func lost(err error) bool {
	var dns *net.DNSError
	return errors.As(err, &dns) && !dns.IsNotFound
}

// bounded is a body of which only so many bytes can be read.
type bounded struct {
	io.ReadCloser
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, ErrTooLarge
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left+1)])
	if b.left -= int64(n); b.left < 0 {
		return n - 1, ErrTooLarge
	}
	return n, err
}

// addressOf is the address that a connection leads to.
func addressOf(text string) netip.Addr {
	to, _ := netip.ParseAddrPort(text) // the zero address is nowhere
	return to.Addr()
}
