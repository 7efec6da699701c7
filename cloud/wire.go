package cloud

import (
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
}

func newWire(c net.Conn, failed func(error), seen func(byte) error) *wire {
	w := &wire{Conn: c, writing: make(chan struct{}, 1), failed: failed}
	w.frames = frame.NewReader(silence{c}, frame.FromBroker(maxPacket, MaxTopic))
	w.frames.Seen = seen
	return w
}

// silence is a reader that gives up when the broker says nothing, not even
// the answer to a ping.
type silence struct{ net.Conn }

func (s silence) Read(p []byte) (int, error) {
	_ = s.SetReadDeadline(time.Now().Add(keepAlive + pingTimeout + 5*time.Second))
	return s.Conn.Read(p)
}

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
	if err != nil {
		w.failed(err)
		return n, errLost
	}
	return n, nil
}

// The client's own deadlines are not wanted: it sets none for acknowledgements
// and clears those of others.

func (w *wire) SetDeadline(time.Time) error      { return nil }
func (w *wire) SetReadDeadline(time.Time) error  { return nil }
func (w *wire) SetWriteDeadline(time.Time) error { return nil }
