package cloud

import (
	"crypto/tls"
	"errors"
	"net"
	"time"

	"roomgate/cloud/internal/frame"
)

// errLost is what the client hears of a broken connection. Its own reading of
// errors stays silent about "use of closed network connection", after which
// it would never notice.
var errLost = errors.New("connection lost")

// maxPacket bounds what a broker may send: a payload, its topic and a header.
const maxPacket = MaxPayload + MaxTopic + 16

// wire is a connection to a broker under our own clocks: every read and every
// write has its deadline, every packet is checked, and the first failure of
// either ends the session, whatever the client makes of it.
type wire struct {
	net.Conn
	frames *frame.Reader
	// writing is a lock that a goroutine in virtual time can wait for.
	writing chan struct{}
	failed  func(error)
	written bool // the first packet
}

func newWire(c net.Conn, failed func(error), seen func(byte) error, skipped func(frame.Skipped)) *wire {
	w := &wire{Conn: c, writing: make(chan struct{}, 1), failed: failed}
	w.frames = frame.NewReader(&silence{Conn: c}, frame.FromBroker(maxPacket, MaxTopic))
	w.frames.Seen = seen
	w.frames.Skip = func(p frame.Skipped) error { skipped(p); return w.acknowledge(p) }
	return w
}

// acknowledge tells the broker that a message which was read past shall not come again.
func (w *wire) acknowledge(p frame.Skipped) error {
	if p.QoS == 0 {
		return nil
	}
	_, err := w.Write([]byte{frame.Puback << 4, 2, byte(p.ID >> 8), byte(p.ID)})
	return err
}

// silence is a reader that gives up when the broker says nothing, not even
// the answer to a ping. It knows the far end that would rather speak TLS.
type silence struct {
	net.Conn
	begun bool
}

func (s *silence) Read(p []byte) (int, error) {
	_ = s.SetReadDeadline(time.Now().Add(keepAlive + pingTimeout + 5*time.Second))
	n, err := s.Conn.Read(p)
	if !s.begun && n > 0 {
		s.begun = true
		if p[0] == recordAlert {
			return 0, errTLSHere
		}
	}
	return n, err
}

// recordAlert begins a record of TLS (RFC 8446, 5.1) and no packet of a broker.
const recordAlert = 21

func (w *wire) Read(p []byte) (int, error) {
	n, err := w.frames.Read(p)
	if err != nil {
		w.failed(err)
		return n, errLost
	}
	return n, nil
}

func (w *wire) Write(p []byte) (int, error) {
	w.writing <- struct{}{}
	defer func() { <-w.writing }()
	_ = w.Conn.SetWriteDeadline(time.Now().Add(writeTimeout))
	n, err := w.Conn.Write(p)
	defer func() { w.written = true }()
	if err != nil {
		w.failed(w.lastWord(err))
		return n, errLost
	}
	return n, nil
}

// lastWord is what the far end has said before it closed, if that was the reason. In
// TLS 1.3 it hears of our certificate after the handshake, when we write already; and
// nobody reads before the first packet is written.
func (w *wire) lastWord(err error) error {
	if _, secure := w.Conn.(*tls.Conn); !secure || w.written {
		return err
	}
	_ = w.Conn.SetReadDeadline(time.Now().Add(time.Second))
	if _, said := w.Conn.Read(make([]byte, 1)); alert(said) != "" {
		return said
	}
	return err
}

// The client's own deadlines are not wanted: it sets none for acknowledgements
// and clears those of others.

func (w *wire) SetDeadline(time.Time) error      { return nil }
func (w *wire) SetReadDeadline(time.Time) error  { return nil }
func (w *wire) SetWriteDeadline(time.Time) error { return nil }
