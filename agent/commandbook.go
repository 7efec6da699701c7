package agent

import (
	"errors"
	"sync"
	"time"

	"roomgate/agent/clock"
	"roomgate/store"
)

const (
	// commandMemory is how long the id of a command is remembered at the least:
	// longer than any command can live, with farAhead.
	commandMemory = longestLife + 2*farAhead
	// forgetAtOnce is how many ids are forgotten in one transaction.
	forgetAtOnce = 100
	// maxCommands is how many ids of each origin are remembered.
	maxCommands = 20_000
)

// origin is who chose the id of a command, and so whether it can come again.
type origin int

const (
	fromUs     origin = iota // the building: the id is new, and nobody else has it
	fromCaller               // somebody in the building, to give the command once
	fromCloud
)

// originOf is told before a command without an id gets one.
func originOf(c Command) origin {
	switch {
	case c.ID == "", c.Via == ViaRule:
		return fromUs
	case c.Via == ViaMQTT:
		return fromCloud
	}
	return fromCaller
}

// commandBook knows the commands that are under way and the ids of those that
// were. An id that came from outside is forgotten by its age only, and the age
// is time that a gateway has lived through: neither a jump of the clock nor a
// time without power makes an old command new. When maxCommands ids of an
// origin are younger than that, a new command is refused, so the cloud cannot
// use up what the building needs.
type commandBook struct {
	lived func() clock.Lived

	mu     sync.Mutex
	orders map[string]*order // under way, by command id
	// forgotten is until when commands were sent whose receipts a repair may have lost; zero: none were.
	forgotten time.Time
}

// claim registers o, or returns the order that has its id already.
func (b *commandBook) claim(o *order) (other *order, mine bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if other := b.orders[o.command.ID]; other != nil {
		return other, false
	}
	if b.orders == nil {
		b.orders = map[string]*order{}
	}
	b.orders[o.command.ID] = o
	return nil, true
}

func (b *commandBook) release(o *order) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.orders, o.command.ID)
}

// now is never 0, which is what an earlier version has stored.
func (b *commandBook) now() clock.Lived { return b.lived() + 1 }

// write stores a command with its receipt and its age.
func (b *commandBook) write(tx *store.Tx, c Command, r Receipt) error {
	return commands.Put(tx, c.ID, storedCommand{Command: c, Receipt: r, Lived: b.now()})
}

// remember writes a command whose id is new. If there is no room for it, nothing
// is written, and the error is Busy.
func (b *commandBook) remember(tx *store.Tx, from origin, c Command, r Receipt) error {
	if err := b.makeRoom(tx, from); err != nil {
		return err
	}
	if _, err := commandAges[from].Push(tx, c.ID); err != nil {
		return err
	}
	return b.write(tx, c, r)
}

// makeRoom forgets what is old enough, once there are too many, and then some
// more: the pages that this changes would else be written for each command.
func (b *commandBook) makeRoom(tx *store.Tx, from origin) error {
	ids := commandAges[from]
	over := ids.Len(tx) - maxCommands + 1
	if over <= 0 {
		return nil
	}
	oldest, err := ids.After(tx, 0, forgetAtOnce)
	if err != nil {
		return err
	}
	for i, id := range oldest {
		s, err := commands.Get(tx, id.Value)
		if err != nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrDamaged) {
			return err
		}
		young := err == nil && from != fromUs && b.now().Since(s.Lived) < commandMemory
		switch {
		case young && i > 0:
			return nil
		case young && s.Lived == 0 && over <= maxCommands:
			return nil // an earlier version forgot by count: as many have room beside its own
		case young:
			return refuse(Busy, "", "the ids of %d commands of the last %s are remembered, and for more there is no room: try again later", maxCommands, inUnits(commandMemory))
		}
		if err := commands.Delete(tx, id.Value); err != nil {
			return err
		}
		if _, err := ids.Trim(tx, id.Seq); err != nil {
			return err
		}
	}
	return nil
}
