package broker

import (
	"cmp"
	"context"
	"slices"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// A message on its way to its subscribers has one part of the traffic, a
// session that comes back has all: the router (2.7.9) copies what waits for it
// while messages still come in, so one is lost, or comes before older ones. There
// are few parts, because a message is copied for each subscriber before anybody
// notices that it is too much.
const (
	oneMessage int64 = 1
	allTraffic int64 = 4
)

// firstNumber is above every number that renumber gives.
const firstNumber = 1 << 16

// pass waits for a part of the traffic. It is c's until yield.
func (b *Broker) pass(c *conn, part int64) {
	b.yield(c)
	_ = b.traffic.Acquire(context.Background(), part) // it waits as long as it takes
	c.held.part = part
}

// yield gives back what c has, if anything.
func (b *Broker) yield(c *conn) {
	if c.held.part > 0 {
		b.traffic.Release(c.held.part)
		c.held.part = 0
	}
}

// number notes the place of a message that is about to be queued for a client.
// The router keeps the second instead, and what came within one goes to a
// session that comes back in any order.
func (b *Broker) number(cl *mqtt.Client, pk packets.Packet) {
	pk.Created = b.numbers.Add(1)
	cl.State.Inflight.Set(pk)
}

// renumber counts from 0 what waits for a session that comes back: the router
// sorts it by 16 bits of the number.
func renumber(session *mqtt.Client) {
	waiting := session.State.Inflight.GetAll(false)
	slices.SortFunc(waiting, func(a, b packets.Packet) int { return cmp.Compare(a.Created, b.Created) })
	for i, pk := range waiting {
		pk.Created = int64(i)
		session.State.Inflight.Set(pk)
	}
}
