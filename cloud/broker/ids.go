package broker

import "hash/maphash"

// ids let one connection at a time take a session over or end it. The router
// (2.7.9) looks a client id up and enters it later: of two that connect at the same
// instant neither finds the other, and both stay. One that leaves strikes the id
// out after it has looked whether somebody took it over, and may strike out that one.
// Ids share a fixed number of places, so that made-up ones take no memory.
type ids struct {
	seed   maphash.Seed
	places [64]chan struct{} // each holds a token while it is taken; in virtual time a mutex would stop the clock
}

func newIDs() *ids {
	n := &ids{seed: maphash.MakeSeed()}
	for i := range n.places {
		n.places[i] = make(chan struct{}, 1)
	}
	return n
}

// enter waits until nobody else begins or ends a session of c's id. Who waits
// must hold nothing that others wait for.
func (n *ids) enter(c *conn) {
	if c.held.turn != nil {
		return
	}
	place := n.places[maphash.String(n.seed, c.id)%uint64(len(n.places))]
	place <- struct{}{}
	c.held.turn = place
}

// leave lets the next one in, if c was in.
func (n *ids) leave(c *conn) {
	if c.held.turn != nil {
		<-c.held.turn
		c.held.turn = nil
	}
}
