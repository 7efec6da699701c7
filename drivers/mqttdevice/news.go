package mqttdevice

import (
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/session"
)

// news is what has come from the broker, shared by the session's goroutines
// and the driver's callers.
type news struct {
	address string
	peers   []*peer

	mu    sync.Mutex
	up    bool
	upAt  time.Time
	tried bool  // the first connection attempt has ended
	cause error // why the connection is down
	wake  chan struct{}
}

func newNews(address string, peers []*peer) *news {
	return &news{address: address, peers: peers, wake: make(chan struct{})}
}

func (n *news) changed() {
	close(n.wake)
	n.wake = make(chan struct{})
}

func (n *news) connected() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.up, n.tried, n.upAt, n.cause = true, true, time.Now(), nil
	for _, p := range n.peers {
		p.forget()
	}
	n.changed()
}

// disconnected remembers why. The connection was good if a device has spoken.
func (n *news) disconnected(cause error) (good bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.peers {
		good = good || n.up && !p.heard.IsZero()
	}
	if n.address == drivers.RoomBroker && (errors.Is(cause, drivers.ErrNoLine) || errors.Is(cause, syscall.ECONNREFUSED)) {
		cause = errors.New("the building has no room broker: set broker.listen, or name another with the option broker")
	}
	n.up, n.tried, n.cause = false, true, cause
	n.changed()
	return good
}

// receive takes a message. What cannot be read makes unknown what it was
// about, unless it is a memory of the broker's.
func (n *news) receive(topic string, payload []byte, retained bool) {
	n.take(topic, retained, func(d dialect) ([]fact, error) { return d.hear(topic, payload) })
}

// skipped takes a message that was too large to be read: it is about what an
// empty one would be about.
func (n *news) skipped(m session.TooLarge) {
	n.take(m.Topic, m.Retained, func(d dialect) (facts []fact, err error) {
		facts, err = d.hear(m.Topic, nil)
		for i := range facts {
			facts[i] = fact{name: facts[i].name, err: fmt.Errorf("%w: %w", errPayload, m)}
		}
		if err != nil {
			err = fmt.Errorf("%w: %w", errPayload, m)
		}
		return facts, err
	})
}

func (n *news) take(topic string, retained bool, hear func(dialect) ([]fact, error)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.peers {
		facts, err := hear(p.dialect)
		if err != nil && !retained {
			p.garbled(fmt.Errorf("%s: %w", topic, err))
		}
		p.take(facts, retained, time.Now())
	}
	n.changed()
}

// down is nil while the broker can be spoken to.
func (n *news) down() error {
	switch {
	case n.up:
		return nil
	case n.cause != nil:
		return fmt.Errorf("%w: %w", drivers.ErrOffline, n.cause)
	}
	return fmt.Errorf("%w: not connected yet", drivers.ErrOffline)
}

// settling says how much longer a first connection or a first answer is worth
// waiting for, and what tells of news.
func (n *news) settling(patience time.Duration) (wait time.Duration, wake <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case !n.tried:
		return patience, n.wake
	case !n.up:
		return 0, nil
	}
	for _, p := range n.peers {
		if _, ever := p.due(); ever && p.heard.IsZero() {
			return patience - time.Since(n.upAt), n.wake
		}
	}
	return 0, nil
}

// begin is before an order: it fails if the device is gone.
func (n *news) begin(p *peer, want []fact) (order, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.down(); err != nil {
		return order{}, err
	}
	l := p.facts[level]
	return order{want: want, after: p.nth, before: l.number}, p.gone(time.Now())
}

// progress is why an order is not proved by what was said up to now; once it is
// followed, unproven judges the whole. lost is why it will not be.
func (n *news) progress(p *peer, o order, unproven func() error) (why error, wake <-chan struct{}, lost error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if lost = n.down(); lost == nil {
		lost = p.gone(time.Now())
	}
	why = fmt.Errorf("%w: no report of it", drivers.ErrNotConfirmed)
	if lost == nil && p.followed(o) {
		why = unproven()
	}
	return why, n.wake, lost
}

// questions are the messages that are due, and when the next will be.
func (n *news) questions(now time.Time) (asked []*peer, next time.Duration, wake <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	next = time.Hour
	for _, p := range n.peers {
		at, ever := p.due()
		switch {
		case !ever:
		case at.After(now):
			next = min(next, at.Sub(now))
		default:
			p.asked = now
			asked = append(asked, p)
			next = min(next, retry)
		}
	}
	return asked, next, n.wake
}
