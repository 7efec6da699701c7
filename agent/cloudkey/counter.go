package cloudkey

import (
	"errors"
	"slices"

	"roomgate/agent/clock"
	"roomgate/agent/problem"
	"roomgate/store"
)

const (
	// width is how far below the highest a counter may be: what was signed side by
	// side need not arrive in order.
	width = 64
	// mostCounters is how many keys are counted for: those that the gateway holds,
	// and some that it held, so that none begins again.
	mostCounters = 16
)

// counters holds what was counted, by the id of the key.
var counters = store.NewTable[counted]("door-counters")

// counted is which counters of a key were used.
type counted struct {
	Highest uint64 `json:"highest"`
	// Below has bit i if Highest-1-i was used.
	Below uint64      `json:"below,omitempty"`
	At    clock.Lived `json:"lived_s,omitempty"` // when the last was
}

// use notes that n is used, or says that it was, or might have been.
func (c *counted) use(n uint64) error {
	switch back := c.Highest - n; {
	case n > c.Highest:
		up := n - c.Highest
		c.Below <<= up // none is left of 64 and more
		if c.Highest > 0 && up <= width {
			c.Below |= 1 << (up - 1)
		}
		c.Highest = n
	case back == 0, back <= width && c.Below&(1<<(back-1)) != 0:
		return problem.New(problem.Conflict, "counter", "was used before: count on with each command")
	case back > width:
		return problem.New(problem.Conflict, "counter", "is more than %d below the highest of this key: count on with each command, and give each sender a key of its own", width)
	default:
		c.Below |= 1 << (back - 1)
	}
	return nil
}

// count uses a counter of a key.
func (si *Signers) count(tx *store.Tx, key string, n uint64) error {
	c, err := si.counted(tx, key)
	if err != nil {
		return err
	}
	if err := c.use(n); err != nil {
		return err
	}
	return si.put(tx, key, c)
}

// put stores what was counted for a key.
func (si *Signers) put(tx *store.Tx, key string, c counted) error {
	if _, err := counters.Get(tx, key); errors.Is(err, store.ErrNotFound) {
		if err := si.forgetIdle(tx); err != nil {
			return err
		}
	}
	c.At = si.o.Clock.Lived()
	return counters.Put(tx, key, c)
}

// forgetIdle forgets the counters of the key that was not used for longest and is
// not held any more.
func (si *Signers) forgetIdle(tx *store.Tx) error {
	if counters.Len(tx) < mostCounters {
		return nil
	}
	held, oldest := si.IDs(), ""
	var at clock.Lived
	for id, c := range counters.All(tx) {
		if !slices.Contains(held, id) && (oldest == "" || c.At < at) {
			oldest, at = id, c.At
		}
	}
	if oldest == "" {
		return nil
	}
	return counters.Delete(tx, oldest)
}
