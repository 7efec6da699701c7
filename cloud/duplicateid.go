package cloud

import (
	"errors"
	"io"
	"sync"
	"syscall"
	"time"

	"roomgate/cloud/internal/frame"
)

// duplicateFrom is how many connections in a row the broker must have closed
// soon after they were up, for another gateway to be suspected of having its id.
const duplicateFrom = 5

// duplicateID notices that somebody else uses the client id. A broker then closes the
// older of two connections (MQTT 3.1.4-2), each side comes back, and so it goes on.
type duplicateID struct {
	soon time.Duration // a connection that lives longer is none of that

	mu     sync.Mutex
	closed int       // connections in a row
	up     time.Time // of the one that is up; zero: none is
}

func (c *duplicateID) began() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.up = time.Now()
}

// ended counts a connection that was announced. brief says that the broker closed
// it soon, so that coming back at once would not be wise.
func (c *duplicateID) ended(err error) (brief bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	brief = time.Since(c.up) < c.soon && closedByPeer(err)
	c.up = time.Time{}
	if brief {
		c.closed++
	} else {
		c.closed = 0
	}
	return brief
}

// times is how often in a row; 0 while nobody else uses the id.
func (c *duplicateID) times() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed < duplicateFrom || !c.up.IsZero() && time.Since(c.up) >= 2*c.soon {
		return 0
	}
	return c.closed
}

func closedByPeer(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) ||
		errors.Is(err, frame.ErrGoodbye) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// Contested is how many connections in a row the broker has closed soon after
// they were up, once they are too many for chance; else 0. Most likely another
// client has the same id.
func (l *Link) Contested() int { return l.duplicate.times() }
