package broker

import (
	"context"

	mqtt "github.com/mochi-mqtt/server/v2"
)

// relieve keeps what waits within the budget, until the broker is closed.
func (b *Broker) relieve() {
	for {
		select {
		case <-b.stop:
			return
		case <-b.budget.over:
			b.relief()
		}
	}
}

// relief forgets sessions until what is left may wait: those without a client,
// the one first that has been without longest; then those of clients that do not
// take what is sent to them. Nothing is sent meanwhile.
func (b *Broker) relief() {
	_ = b.traffic.Acquire(context.Background(), allTraffic)
	defer b.traffic.Release(allTraffic)
	for _, cl := range b.server.Clients.GetAll() {
		if c := connOf(cl); c != nil && b.budget.exceeded() {
			c.share.recount(cl.State.Inflight.GetAll(false))
		}
	}
	for b.budget.exceeded() {
		cl := b.longestAbsent(b.budget.most / 1024)
		if cl == nil {
			cl = b.longestAbsent(0)
		}
		if cl != nil {
			b.forget(cl, "too much waits in the broker")
			continue
		}
		if cl = b.greediest(); cl == nil {
			return
		}
		b.log.warn("broker ended the client for which most waits: too much waits in the broker", "client", printable(cl.ID))
		connOf(cl).cut()
		cl.ClearInflights()
		b.server.UnsubscribeClient(cl)
		connOf(cl).share.drop()
	}
}

// leave notes when a session lost its client, or that there is none.
func (b *Broker) leave(c *conn) {
	if cl, ok := b.server.Clients.Get(c.id); ok && connOf(cl) == c {
		c.left.Store(b.leavings.Add(1))
		return
	}
	c.share.drop()
}

// longestAbsent is the session that has been without its client longest, of
// those for which so many bytes wait; nil if there is none. The router is through
// with those.
func (b *Broker) longestAbsent(least int) (oldest *mqtt.Client) {
	for _, cl := range b.server.Clients.GetAll() {
		c := connOf(cl)
		if c == nil || c.left.Load() == 0 || c.share.size() < least {
			continue
		}
		if oldest == nil || c.left.Load() < connOf(oldest).left.Load() {
			oldest = cl
		}
	}
	return oldest
}

// greediest is the connected client for which most waits, of the user for whom
// most waits: nobody loses his because another has many connections. This
// process itself is never meant. Nil: nothing waits for anybody.
func (b *Broker) greediest() (most *mqtt.Client) {
	users, all := map[string]int{}, b.server.Clients.GetAll()
	for id, cl := range all {
		c := connOf(cl)
		if c == nil || c.inside || c.share.size() == 0 {
			delete(all, id)
			continue
		}
		users[c.user] += c.share.size()
	}
	for _, cl := range all {
		if most == nil {
			most = cl
			continue
		}
		c, m := connOf(cl), connOf(most)
		if u, v := users[c.user], users[m.user]; u > v || u == v && c.share.size() > m.share.size() {
			most = cl
		}
	}
	return most
}

// forget ends a session that is without a client. The caller has all traffic, so
// that the client does not come back meanwhile.
func (b *Broker) forget(cl *mqtt.Client, reason string) {
	cl.ClearInflights()
	b.server.UnsubscribeClient(cl)
	b.server.Clients.Delete(cl.ID)
	connOf(cl).share.drop()
	b.log.warn("broker forgot the session that was longest without a client", "client", printable(cl.ID), "reason", reason)
}

// evict forgets the session that has waited longest for its client, if there
// are as many waiting as there may be clients.
func (b *Broker) evict(c *conn) {
	if b.server.Clients.Len() <= 2*b.o.MaxClients {
		return
	}
	b.pass(c, allTraffic)
	if oldest := b.longestAbsent(0); oldest != nil {
		b.forget(oldest, "there are too many")
	}
}
