package broker

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"roomgate/cloud/guest"
	"roomgate/cloud/internal/frame"
)

// errOverflow ends a client that does not read what is sent to it.
var errOverflow = errors.New("client does not read")

// conn is a client's connection as the router sees it. What it reads is
// checked; what it is given to write it takes at once and writes in its own
// time, because the router holds a client's lock while it writes. A client
// that takes no piece for writeTime, or lets maxPending wait, is cut off.
type conn struct {
	net.Conn // with TLS on it, once that is up
	raw      net.Conn
	frames   *frame.Reader
	local    bool
	inside   bool // of this process
	peer
	flushes *sync.WaitGroup

	// Set when CONNECT is accepted, by the goroutine that reads.
	id, user    string
	established bool

	// What others wait for; for the same goroutine.
	held struct {
		part int64         // of the traffic
		turn chan struct{} // of its id; nil: it has none
	}

	// The packet ids of the client's request that is being answered.
	answered struct{ publish, subscribe uint16 }

	queued atomic.Int32 // messages between the router and us
	share  *share
	left   atomic.Int64 // when the session lost this connection, in order; 0: it did not

	mu       sync.Mutex
	unsent   unsent
	flushing bool
	closing  bool
	overflow bool
}

// peer is where a connection comes from, its place, and how long it is there: what is done for it ends with it.
type peer struct {
	from  netip.Addr
	place *guest.Place
	there context.Context
	gone  context.CancelFunc
	// connectBy is when its CONNECT has to be there.
	connectBy time.Time
	ahead     []byte // what it sent before the router has asked for it
}

func newConn(c net.Conn, maxPacket int, s *share) *conn {
	w := &conn{Conn: c, raw: c, share: s, unsent: unsent{limit: max(maxPending, 2*maxPacket), share: s}}
	w.there, w.gone = context.WithCancel(context.Background())
	w.frames = frame.NewReader(socket{w}, frame.FromClient(maxConnect, maxPacket, maxTopic))
	w.connectBy = time.Now().Add(connectTime)
	_ = c.SetDeadline(w.connectBy)
	return w
}

// socket reads what has not been checked yet.
type socket struct{ c *conn }

func (s socket) Read(p []byte) (int, error) {
	if n := copy(p, s.c.ahead); n > 0 {
		if s.c.ahead = s.c.ahead[n:]; len(s.c.ahead) == 0 {
			s.c.ahead = nil
		}
		return n, nil
	}
	return s.c.Conn.Read(p)
}

func (c *conn) Read(p []byte) (int, error) { return c.frames.Read(p) }

// SetDeadline is the router's: it bounds the wait for the next packet.
func (c *conn) SetDeadline(t time.Time) error { return c.Conn.SetReadDeadline(t) }

// Write takes p and returns at once.
func (c *conn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closing:
		return 0, net.ErrClosed
	case !c.unsent.put(p):
		c.overflow = true
		c.end()
		return 0, errOverflow
	}
	if !c.flushing {
		c.flushing = true
		c.flushes.Go(c.flush)
	}
	return len(p), nil
}

// flush writes what waits, until nothing does.
func (c *conn) flush() {
	for {
		piece := c.take()
		if piece == nil {
			return
		}
		for len(piece) > 0 {
			n := min(len(piece), writePiece)
			c.allow()
			if _, err := c.Conn.Write(piece[:n]); err != nil {
				c.cut()
				return
			}
			piece = piece[n:]
			c.written(n)
		}
	}
}

// take returns what waits. With nothing left it ends the flushing, and the
// connection if that is what it waited for.
func (c *conn) take() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	piece := c.unsent.take()
	if piece == nil {
		c.flushing = false
		if c.closing {
			_ = c.Conn.Close()
		}
	}
	return piece
}

// allow gives the next piece its time, unless Close has set a last one.
func (c *conn) allow() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closing {
		_ = c.Conn.SetWriteDeadline(time.Now().Add(writeTime))
	}
}

// Close ends the reading at once and the connection when what waits is
// written, for which it gives one second: a refusal must reach the client.
func (c *conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return nil
	}
	c.closing = true
	c.gone()
	if !c.flushing {
		return c.Conn.Close()
	}
	_ = c.Conn.SetWriteDeadline(time.Now().Add(time.Second))
	return c.Conn.SetReadDeadline(time.Unix(1, 0))
}

// cut ends the connection at once.
func (c *conn) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end()
}

// end is cut for who holds the lock. What waits does so no more.
func (c *conn) end() {
	c.closing = true
	c.gone()
	_ = c.raw.Close()
	c.unsent.drop()
}

// written counts bytes that the connection has taken.
func (c *conn) written(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unsent.written(n)
}

func (c *conn) overflowed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.overflow
}

// busy says whether messages are on their way to the client.
func (c *conn) busy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.closing && (c.flushing || c.queued.Load() > 0)
}

// settle gives what was acknowledged time to reach who subscribed: until
// nobody has been busy for three looks in a row, at most for settleTime.
func settle(conns []*conn) {
	const look = 10 * time.Millisecond
	for quiet, end := 0, time.Now().Add(settleTime); quiet < 3 && time.Now().Before(end); quiet++ {
		if slices.ContainsFunc(conns, (*conn).busy) {
			quiet = -1
		}
		time.Sleep(look)
	}
}
