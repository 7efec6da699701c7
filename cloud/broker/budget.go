package broker

import (
	"strings"
	"sync"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// What the router (2.7.9) needs besides the bytes themselves, measured on 64
// bits and rounded up.
const (
	messageCost = 1000 // of a message that waits
	levelCost   = 700  // of a level in the tree of topics
	filterCost  = 300  // of a subscription
)

// budget counts the bytes that wait in the broker for somebody: what was sent
// to sessions and not acknowledged, what is on its way to slow clients,
// subscriptions, wills, and retained messages.
type budget struct {
	most int
	over chan struct{} // has one when more waits than may

	mu    sync.Mutex
	total int
}

func newBudget(most int) *budget { return &budget{most: most, over: make(chan struct{}, 1)} }

// exceeded says whether more waits than may.
func (b *budget) exceeded() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.total > b.most
}

// add counts n bytes more, or less. The caller holds the lock.
func (b *budget) add(n int) {
	b.total += n
	if b.total > b.most {
		select {
		case b.over <- struct{}{}:
		default:
		}
	}
}

// take counts bytes that are nobody's share.
func (b *budget) take(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(n)
}

// share is what waits for one session. A nil share counts nothing.
type share struct {
	of       *budget
	bytes    int
	inflight map[uint16]int // bytes by packet id
	filters  int            // bytes of the subscriptions
	over     bool           // the session is forgotten: nothing counts any more
}

func (b *budget) share() *share { return &share{of: b, inflight: map[uint16]int{}} }

// add counts n bytes more, or less.
func (s *share) add(n int) {
	if s == nil {
		return
	}
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.count(n)
}

// count is add for who holds the lock.
func (s *share) count(n int) {
	if !s.over {
		s.bytes += n
		s.of.add(n)
	}
}

// hold counts a message that waits to be acknowledged; size 0: it was.
func (s *share) hold(id uint16, size int) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.count(size - s.inflight[id])
	if delete(s.inflight, id); size > 0 && !s.over {
		s.inflight[id] = size
	}
}

// subscribed counts the subscriptions that there are now.
func (s *share) subscribed(all map[string]packets.Subscription) {
	size := 0
	for filter := range all {
		size += filterCost + len(filter) + levelCost*(1+strings.Count(filter, "/"))
	}
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.count(size - s.filters)
	s.filters = size
}

// drop gives back everything, for good.
func (s *share) drop() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.count(-s.bytes)
	s.inflight, s.over = nil, true
}

// ended says whether the session is forgotten.
func (s *share) ended() bool {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	return s.over
}

// recount makes good for messages of which the router has not said that it
// dropped them.
func (s *share) recount(waiting []packets.Packet) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	for _, size := range s.inflight {
		s.count(-size)
	}
	clear(s.inflight)
	for _, pk := range waiting {
		s.inflight[pk.PacketID] = cost(pk)
		s.count(cost(pk))
	}
}

// size is what waits, in bytes.
func (s *share) size() int {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	return s.bytes
}

// cost is what a message takes that waits to be acknowledged.
func cost(pk packets.Packet) int { return messageCost + len(pk.TopicName) + len(pk.Payload) }

// OnQosComplete is called when a message was acknowledged.
func (g *guard) OnQosComplete(cl *mqtt.Client, pk packets.Packet) { held(cl, pk.PacketID, 0) }

// OnQosDropped is called when a message waits no more.
func (g *guard) OnQosDropped(cl *mqtt.Client, pk packets.Packet) { held(cl, pk.PacketID, 0) }

func held(cl *mqtt.Client, id uint16, size int) {
	if c := connOf(cl); c != nil {
		c.share.hold(id, size)
	}
}

// OnSubscribed is called after new subscriptions, with the code of each.
func (g *guard) OnSubscribed(cl *mqtt.Client, pk packets.Packet, codes []byte) {
	for i, f := range pk.Filters {
		if i < len(codes) && codes[i] >= packets.ErrUnspecifiedError.Code {
			g.b.log.warn("broker refused a subscription: its user may not read that", "client", printable(cl.ID), "filter", printable(f.Filter))
		}
	}
	subscribed(cl)
}

// OnUnsubscribed is called after some were given up.
func (g *guard) OnUnsubscribed(cl *mqtt.Client, _ packets.Packet) { subscribed(cl) }

func subscribed(cl *mqtt.Client) {
	if c := connOf(cl); c != nil {
		c.share.subscribed(cl.State.Subscriptions.GetAll())
	}
}
