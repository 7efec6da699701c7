package cloud

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"time"
)

// LinkOptions say where a Link connects and what it does there. URL and
// ClientID are required.
type LinkOptions struct {
	// URL is mqtt://host[:1883] or mqtts://host[:8883].
	URL string
	// ClientID names the session at the broker, which keeps messages for it
	// between connections. Two links with one id throw each other out.
	ClientID string
	// Fleeting lets the broker forget the session with its connection.
	Fleeting bool
	// Username and Password go with each CONNECT. Password is asked each time,
	// so that a new one is taken without a restart; nil: none.
	Username string
	Password func() (string, error)
	// Login is asked for both instead, each time; nil: they are as above.
	Login func() (username, password string, err error)
	// TLS is for mqtts; nil: TLS 1.2 or later with the system's authorities.
	TLS *tls.Config
	// Will is registered at each connection, and published by the broker if
	// the connection is lost. Birth is published once all subscriptions are
	// acknowledged, Farewell before the link ends as asked. Each is called
	// again for each connection; nil: none.
	Will, Birth, Farewell func() Message
	// Subscribe are topic filters, at QoS 1. One that is refused ends the
	// connection.
	Subscribe []string
	// Receive gets every message, in the order of arrival, one at a time. Nil
	// acknowledges it to the broker. An error drops the connection, after
	// which the broker sends it again: refuse only what may succeed later.
	Receive func(ctx context.Context, m Message) error
	// Up is called when a connection is announced (after Birth), with a
	// context that ends with it; Down when that connection is lost. Both must
	// return soon.
	Up   func(ctx context.Context)
	Down func(err error)
	// Contested is called before each pause while Link.Contested is not 0, with
	// it; nil: nobody is told. It must return soon.
	Contested func(ctx context.Context, times int)
	// Dial opens the connection; nil: a net.Dialer. TLS is put on top.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// MaxBackoff bounds the pause between attempts; 0: 60 s. Every pause is
	// drawn from the whole range, so that a fleet does not return at once.
	MaxBackoff time.Duration
	// Log gets one line per connection gained and lost; nil: slog.Default().
	Log *slog.Logger
}

// The clocks of a link. A dead peer is noticed after keepAlive + pingTimeout,
// plus 5 s that the client takes between its looks.
const (
	connectTimeout = 10 * time.Second // dial, TLS and CONNACK together
	writeTimeout   = 10 * time.Second // one packet
	subackTimeout  = 10 * time.Second // one subscription, one birth
	keepAlive      = 30 * time.Second
	pingTimeout    = 10 * time.Second
	farewellTime   = 2 * time.Second
)

// CheckURL refuses what Link could not connect to, with an error that says
// what would be right.
func CheckURL(raw string) error {
	_, _, err := target(raw)
	return err
}

// target is the URL taken apart: the user in it, if any, and host:port.
func target(raw string) (u *url.URL, address string, err error) {
	u, err = url.Parse(raw)
	if err != nil {
		// The error of url.Parse repeats the URL, and a password with it.
		return nil, "", errors.New("broker URL cannot be read: want mqtt://host or mqtts://host")
	}
	port := map[string]string{"mqtt": "1883", "mqtts": "8883"}[u.Scheme]
	if port == "" || u.Hostname() == "" {
		return nil, "", fmt.Errorf("broker URL %q: want mqtt://host or mqtts://host", u.Redacted())
	}
	if (u.Path != "" && u.Path != "/") || u.RawQuery != "" || u.Fragment != "" {
		return nil, "", fmt.Errorf("broker URL %q has a path or a query: want mqtt://host[:port]", u.Redacted())
	}
	return u, net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), port)), nil
}
