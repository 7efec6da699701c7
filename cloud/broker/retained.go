package broker

import (
	"runtime"
	"sync"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// retained counts what the router keeps for those who subscribe later.
type retained struct {
	mu    sync.Mutex
	sizes map[string]int // bytes by topic
	bytes int
}

// fits says whether a message may be kept. One that replaces another of its
// topic, and one that clears it, always may if the bytes allow.
func (r *retained) fits(topic string, size int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	old, known := r.sizes[topic]
	return (known || size == 0 || len(r.sizes) < maxRetained) && r.bytes-old+size <= maxRetainedBytes
}

// set counts a message; size 0 uncounts it.
func (r *retained) set(topic string, size int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sizes == nil {
		r.sizes = map[string]int{}
	}
	r.bytes += size - r.sizes[topic]
	if size == 0 {
		delete(r.sizes, topic)
		return
	}
	r.sizes[topic] = size
}

// weight is what a message costs to keep: its name counts too.
func weight(topic string, payload []byte) int {
	if len(payload) == 0 {
		return 0
	}
	return len(topic) + len(payload)
}

// OnPublish lets a message that is too much to keep pass without being kept.
func (g *guard) OnPublish(cl *mqtt.Client, pk packets.Packet) (packets.Packet, error) {
	pk.FixedHeader.Retain = pk.FixedHeader.Retain && g.b.mayKeep(cl, pk.TopicName, pk.Payload)
	return pk, nil
}

// OnWill is OnPublish for a last will, which takes another way through the
// router. Whether its topic is allowed was settled at CONNECT.
func (g *guard) OnWill(cl *mqtt.Client, will mqtt.Will) (mqtt.Will, error) {
	g.b.through(cl) // with a packet that ended the client
	if c := connOf(cl); c != nil {
		g.b.pass(c, oneMessage)
	}
	will.Retain = will.Retain && g.b.mayKeep(cl, will.TopicName, will.Payload)
	if will.Retain {
		g.b.gate.enter(cl)
	}
	return will, nil
}

func (b *Broker) mayKeep(cl *mqtt.Client, topic string, payload []byte) bool {
	if b.retained.fits(topic, weight(topic, payload)) {
		return true
	}
	b.log.warn("broker keeps too many retained messages, passed one on without", "client", printable(cl.ID), "topic", topic)
	return false
}

// OnRetainMessage is called when a message is kept or cleared.
func (g *guard) OnRetainMessage(cl *mqtt.Client, pk packets.Packet, _ int64) {
	g.b.gate.leave(cl)
	g.b.retained.set(pk.TopicName, weight(pk.TopicName, pk.Payload))
}

// OnRetainedExpired is called when a message is no longer kept.
func (g *guard) OnRetainedExpired(topic string) { g.b.retained.set(topic, 0) }

// OnRetainPublished is called for each kept message that a new subscription
// is given; it lets the client's queue empty itself.
func (g *guard) OnRetainPublished(*mqtt.Client, packets.Packet) { runtime.Gosched() }
