package broker

import (
	"runtime"
	"sync"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// retained counts what the router keeps for those who subscribe later.
type retained struct {
	of   *budget
	most int // bytes

	mu    sync.Mutex
	kept  map[string]kept  // by topic
	tree  map[string]level // at which topics are, or below
	bytes int
	users map[string]int // bytes by who published them
}

// level is one of the tree of topics.
type level struct {
	topics int
	user   string // whose topic made it
}

// kept is one message that is kept.
type kept struct {
	user  string
	bytes int
}

// fits says whether a message of a user may be kept. One that replaces another
// of its topic, and one that clears it, may if the bytes allow. One user does
// not get all of them, nor do all users: some are left for the gateway, which is Inside.
func (r *retained) fits(user, topic string, size int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if size == 0 {
		return true
	}
	old, known := r.kept[topic]
	size += messageCost
	if !known {
		size += r.grows(topic)
	}
	own := r.users[user] + size
	if old.user == user {
		own -= old.bytes
	}
	users := r.bytes - r.users[Inside] + size
	if old.user != Inside {
		users -= old.bytes
	}
	return (known || len(r.kept) < maxRetained) && r.bytes-old.bytes+size <= r.most && (user == Inside || own <= r.most/2 && users <= r.most/4*3)
}

// grows is what the levels of a topic cost that are not there yet.
func (r *retained) grows(topic string) (size int) {
	for level := range levels(topic) {
		if r.tree[level].topics == 0 {
			size += levelCost
		}
	}
	return size
}

// levels yields the beginnings of a topic, one level longer each.
func levels(topic string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for i := range topic {
			if topic[i] == '/' && !yield(topic[:i]) {
				return
			}
		}
		yield(topic + "/")
	}
}

// set counts a message; size 0 uncounts it.
func (r *retained) set(user, topic string, size int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept == nil {
		r.kept, r.tree, r.users = map[string]kept{}, map[string]level{}, map[string]int{}
	}
	old, known := r.kept[topic]
	switch {
	case known && size == 0:
		delete(r.kept, topic)
		r.count(old.user, -old.bytes)
		r.branch(user, topic, -1)
	case known:
		size += messageCost
		r.kept[topic] = kept{user, size}
		r.count(old.user, -old.bytes)
		r.count(user, size)
	case size > 0:
		size += messageCost
		r.kept[topic] = kept{user, size}
		r.count(user, size)
		r.branch(user, topic, 1)
	}
}

// branch counts a topic in the tree, or out of it. Whose topic made a level pays for it
// as long as it is there.
func (r *retained) branch(user, topic string, n int) {
	for name := range levels(topic) {
		l, known := r.tree[name]
		if !known {
			l.user = user
			r.count(user, levelCost)
		}
		if l.topics += n; l.topics > 0 {
			r.tree[name] = l
			continue
		}
		delete(r.tree, name)
		r.count(l.user, -levelCost)
	}
}

func (r *retained) count(user string, n int) {
	r.bytes += n
	if r.users[user] += n; r.users[user] == 0 {
		delete(r.users, user)
	}
	r.of.take(n)
}

// weight is what a message needs to be kept: its name counts twice, because the
// router and we have it.
func weight(topic string, payload []byte) int {
	if len(payload) == 0 {
		return 0
	}
	return 2*len(topic) + len(payload)
}

// OnPublish lets a message that is too much to keep pass without being kept.
func (g *guard) OnPublish(cl *mqtt.Client, pk packets.Packet) (packets.Packet, error) {
	pk.FixedHeader.Retain = pk.FixedHeader.Retain && g.b.mayKeep(cl, pk.TopicName, pk.Payload)
	return pk, nil
}

// nowhere is a topic that nobody may read. The router (2.7.9) sends a will
// whatever we say, so one that is refused goes there.
const nowhere = "$nowhere"

// OnWill is OnPublish for a last will, which takes another way through the
// router. Its topic was allowed at CONNECT, and may be a door's since.
func (g *guard) OnWill(cl *mqtt.Client, will mqtt.Will) (mqtt.Will, error) {
	g.b.through(cl) // with a packet that ended the client
	if c := connOf(cl); c != nil {
		g.b.pass(c, oneMessage)
	}
	if c := connOf(cl); c != nil && !g.b.allowed(c.user, will.TopicName, true) { // any more
		will.TopicName, will.Retain = nowhere, false
	}
	will.Retain = will.Retain && g.b.mayKeep(cl, will.TopicName, will.Payload)
	if will.Retain {
		g.b.gate.enter(cl)
	}
	return will, nil
}

func (b *Broker) mayKeep(cl *mqtt.Client, topic string, payload []byte) bool {
	if b.retained.fits(ownerOf(cl), topic, weight(topic, payload)) {
		return true
	}
	b.log.warn("broker keeps too many retained messages, passed one on without", "client", printable(cl.ID), "topic", topic)
	return false
}

// OnRetainMessage is called when a message is kept or cleared.
func (g *guard) OnRetainMessage(cl *mqtt.Client, pk packets.Packet, _ int64) {
	g.b.gate.leave(cl)
	g.b.retained.set(ownerOf(cl), pk.TopicName, weight(pk.TopicName, pk.Payload))
}

// ownerOf is the user of a client, empty if anonymous. The router has a client of its own.
func ownerOf(cl *mqtt.Client) string {
	if c := connOf(cl); c != nil {
		return c.user
	}
	return Inside
}

// OnRetainedExpired is called when a message is no longer kept.
func (g *guard) OnRetainedExpired(topic string) { g.b.retained.set("", topic, 0) }

// OnRetainPublished is called for each kept message that a new subscription
// is given; it lets the client's queue empty itself.
func (g *guard) OnRetainPublished(*mqtt.Client, packets.Packet) { runtime.Gosched() }
