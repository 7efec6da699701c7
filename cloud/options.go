package cloud

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"time"
)

// LinkOptions say where a Link connects and what it does there. URL and
// ClientID are required.
type LinkOptions struct {
	// URL is mqtt://host[:1883] or mqtts://host[:8883], or several with commas between:
	// when a connection is lost or cannot be made the next one is tried.
	URL string
	// At is asked before each connection where that goes, as URL; nil: URL. It gets what was met
	// last.
	At func(last Trouble) (url string)
	// ClientID names the session at the broker, which keeps messages for it
	// between connections. Two links with one id throw each other out.
	ClientID string
	// Fleeting lets the broker forget the session with its connection.
	Fleeting bool
	// Login goes with each CONNECT, and is asked each time, so that another one is taken
	// without a restart; nil: that in the URL, if any. LoginAs makes one of its parts.
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
	// Unsubscribe are filters that the broker may still have of an earlier version: it
	// forgets them with each connection.
	Unsubscribe []string
	// Receive gets every message, in the order of arrival, one at a time. Nil
	// acknowledges it to the broker. An error drops the connection, after
	// which the broker sends it again: refuse only what may succeed later.
	// ErrUnacknowledged keeps the connection.
	Receive func(ctx context.Context, m Message) error
	// Deliver gets every message instead, in the order of arrival, one at a time: taken
	// acknowledges it to the broker, at any time and from anywhere. What is not taken comes
	// again with the next connection. It may wait until ctx ends, with the connection: then
	// nothing more is read. At most 8 MiB are delivered and not taken.
	Deliver func(ctx context.Context, m Message, taken func())
	// Up is called when a connection is announced (after Birth), with a
	// context that ends with it; Down when that connection is lost. Both must
	// return soon.
	Up   func(ctx context.Context)
	Down func(err error)
	// Own tells somebody else with this id from a far end that closes by itself: once
	// that has closed again and again, it is read if the broker allows it.
	Own Own
	// Dial opens the connection; nil: a net.Dialer. TLS is put on top.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// MaxBackoff bounds the pause between attempts; 0: 60 s. Every pause is
	// drawn from the whole range, so that a fleet does not return at once.
	MaxBackoff time.Duration
	// Spread is asked over how long the links of a fleet spread their first attempt
	// after a connection; nil: 1 s. No pause is drawn from less, nor from more than
	// MaxBackoff.
	Spread func() time.Duration
	// Log gets one line per connection gained and lost; nil: slog.Default().
	Log *slog.Logger
}

// Own is a topic that only one client writes.
type Own struct {
	Topic string // empty: there is none
	// Mine says whether a message on it is from this run of the client.
	Mine func(m Message) bool
	// Contested is called before each pause while Link.Contested is not 0, with
	// it; nil: nobody is told. It must return soon.
	Contested func(ctx context.Context, times int)
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
