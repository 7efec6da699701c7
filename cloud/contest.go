package cloud

import (
	"errors"
	"io"
	"sync"
	"syscall"
	"time"

	"roomgate/cloud/internal/frame"
)

// contestedFrom is how many connections in a row the broker must have closed
// soon after they were up, for the link to be contested.
const contestedFrom = 5

// contest notices that somebody else uses the client id. A broker then closes the
// older of two connections (MQTT 3.1.4-2), each side comes back, and so it goes on.
type contest struct {
	soon time.Duration // a connection that lives longer is none of that

	mu     sync.Mutex
	closed int       // connections in a row
	up     time.Time // of the one that is up; zero: none is
}

func (c *contest) began() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.up = time.Now()
}

// ended counts a connection that was announced. brief says that the broker closed
// it soon, so that coming back at once would not be wise.
func (c *contest) ended(err error) (brief bool) {
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

// times is how often in a row; 0 while nobody contests.
func (c *contest) times() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed < contestedFrom || !c.up.IsZero() && time.Since(c.up) >= 2*c.soon {
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
func (l *Link) Contested() int { return l.contest.times() }
