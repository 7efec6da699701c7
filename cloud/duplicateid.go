package cloud

import (
	"errors"
	"io"
	"slices"
	"sync"
	"syscall"
	"time"

	"roomgate/cloud/internal/frame"
)

const (
	// duplicateFrom is how many connections in a row the broker must have closed
	// soon after they were up, for another gateway to be suspected of having its id.
	duplicateFrom = 5
	// rightFrom is how many must have ended at one and the same request, for the
	// right to it to be what is missing.
	rightFrom = 3
	// deafFrom is how many must have heard nothing on our own topic, for the right to
	// read it to be missing.
	deafFrom = 2
)

// duplicateID tells apart why a broker closes one connection after the other. Two
// that use one client id throw each other out (MQTT 3.1.4-2), and so it goes on;
// but a far end may close for reasons of its own, because of what we ask, or
// because it starts again and again.
type duplicateID struct {
	soon time.Duration // a connection that lives longer is none of that

	mu     sync.Mutex
	closed int       // connections in a row
	up     time.Time // of the one that is up; zero: none is
	ends   []end     // of the last of them, at most duplicateFrom

	// What was read on the topic that only this client writes.
	blind   bool // it may not be read
	reads   bool // this connection reads it
	deaf    int  // connections in a row that did and heard nothing
	echoes  int  // connections on which we have read ourselves
	echo    bool // this one has
	foreign bool // and somebody else, after that
}

// end is how a connection ended.
type end struct {
	life time.Duration
	at   act
}

// act is a request that the broker has not answered before it closed, and none
// like it on that connection.
type act struct {
	write bool // else read
	topic string
}

// began is called for each connection that is logged in.
func (c *duplicateID) began() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.up, c.echo, c.reads = time.Now(), false, false
}

// away says that the broker was not there: it has started again, and what it
// closed before was no duplicate id.
func (c *duplicateID) away() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget()
}

func (c *duplicateID) forget() {
	c.closed, c.ends, c.foreign, c.echoes, c.blind, c.deaf = 0, nil, false, 0, false, 0
}

// ended counts a connection that was logged in. brief says that the broker closed
// it soon, so that coming back at once would not be wise.
func (c *duplicateID) ended(err error, at act) (brief bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	life := time.Since(c.up)
	brief = life < c.soon && closedByPeer(err)
	c.up = time.Time{}
	if !brief {
		c.forget()
		return false
	}
	if c.reads { // Mosquitto grants every subscription, and is silent then
		c.deaf++
		c.blind = c.blind || c.deaf >= deafFrom
	}
	c.closed++
	c.ends = append(c.ends[max(0, len(c.ends)-duplicateFrom+1):], end{life, at})
	return true
}

// suspected says whether it is worth to read what is on our own topic.
func (c *duplicateID) suspected() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed >= duplicateFrom && !c.blind
}

// reading says whether our own topic may be read on this connection.
func (c *duplicateID) reading(may bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads, c.blind = may, !may
}

// saw takes a message on our own topic. What somebody else wrote there proves
// something only after we have read ourselves: before, it may be from an earlier
// run of this gateway.
func (c *duplicateID) saw(mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads, c.deaf = false, 0
	switch {
	case mine && !c.echo:
		c.echo = true
		c.echoes++
	case !mine && c.echoes > 0:
		c.foreign = true
	}
}

// verdict is why the broker closes, and at what. may says whether our own topic
// can be read.
func (c *duplicateID) verdict(may bool) (Cause, act) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.judge(may)
}

func (c *duplicateID) judge(may bool) (Cause, act) {
	if at, same := c.sameAct(); same && !c.foreign {
		if at.write {
			return CauseMayNotWrite, at
		}
		return CauseMayNotRead, at
	}
	switch {
	case c.closed < duplicateFrom:
	case c.foreign:
		return CauseContested, act{}
	case may && !c.blind: // not yet proven, or proven that there is nobody else
	case !c.regular():
		return CauseContested, act{}
	}
	return CauseClosed, act{}
}

// sameAct is the request at which the last connections have ended.
func (c *duplicateID) sameAct() (at act, same bool) {
	if len(c.ends) < rightFrom {
		return act{}, false
	}
	last := c.ends[len(c.ends)-rightFrom:]
	at = last[0].at
	return at, at.topic != "" && !slices.ContainsFunc(last, func(e end) bool { return e.at != at })
}

// regular says that the connections lived equally long, as with a far end that
// goes by its own clock. Another client with this id comes back at random.
func (c *duplicateID) regular() bool {
	longest, shortest := c.ends[0].life, c.ends[0].life
	for _, e := range c.ends {
		longest, shortest = max(longest, e.life), min(shortest, e.life)
	}
	return longest-shortest <= max(longest/10, 50*time.Millisecond)
}

// times is how often in a row; 0 while nobody else uses the id.
func (c *duplicateID) times(may bool) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.up.IsZero() && time.Since(c.up) >= 2*c.soon {
		return 0
	}
	if cause, _ := c.judge(may); cause != CauseContested {
		return 0
	}
	return c.closed
}

func closedByPeer(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) ||
		errors.Is(err, frame.ErrGoodbye) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// Contested is how many connections in a row the broker has closed soon after
// they were up, if another client has the same id; else 0.
func (l *Link) Contested() int { return l.duplicate.times(l.o.Own.Topic != "") }
