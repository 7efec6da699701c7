package broker

import (
	"sync/atomic"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// gate keeps a subscription and a retained message apart. The router (2.7.9)
// walks its tree of topics for a subscription without the lock under which it
// writes a retained message's name there, so one may read half of the other.
type gate struct {
	turn   chan struct{} // holds a token while somebody is inside; in virtual time a mutex would stop the clock
	holder atomic.Pointer[mqtt.Client]
}

// enter waits until nobody else is inside.
func (g *gate) enter(cl *mqtt.Client) {
	g.turn <- struct{}{}
	g.holder.Store(cl)
}

// leave lets the next one in. Who is not inside may call it too: a packet that
// the router gives up on leaves with its client.
func (g *gate) leave(cl *mqtt.Client) {
	if g.holder.CompareAndSwap(cl, nil) {
		<-g.turn
	}
}

// gated says whether a packet walks the tree or writes to it.
func gated(pk packets.Packet) bool {
	return pk.FixedHeader.Type == packets.Subscribe || pk.FixedHeader.Type == packets.Publish && pk.FixedHeader.Retain
}

// OnPacketProcessed is called when the router is through with a packet.
func (g *guard) OnPacketProcessed(cl *mqtt.Client, _ packets.Packet, _ error) { g.b.through(cl) }

// OnWillSent is called when a will is published.
func (g *guard) OnWillSent(cl *mqtt.Client, _ packets.Packet) { g.b.through(cl) }

// OnDisconnect is called when a client has gone, after its will, and before the
// router ends its session.
func (g *guard) OnDisconnect(cl *mqtt.Client, _ error, _ bool) {
	g.b.through(cl)
	if c := connOf(cl); c != nil {
		g.b.ids.enter(c)
	}
}

// through says that a client is through with what it held others up for.
func (b *Broker) through(cl *mqtt.Client) {
	b.gate.leave(cl)
	if c := connOf(cl); c != nil {
		b.yield(c)
	}
}
