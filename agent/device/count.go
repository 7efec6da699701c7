package device

import "roomgate/store"

// Count is what a signed command of the cloud counts: each number of a key is good for one command.
type Count struct {
	Key string `json:"key"` // the id of the key that has signed it
	N   uint64 `json:"n"`   // from 1
}

// Counters are the counters of the keys. Package cloudkey has them.
type Counters struct {
	// Use uses a number in the transaction that stores the id of its command. It refuses one that is used, or may be.
	Use func(tx *store.Tx, c Count) error
	// Hold uses a number in memory where the disk does not take it, if keep, which keeps the command, succeeds. It
	// refuses as Use does, before keep.
	Hold func(c Count, keep func() error) error
	// Settle stores a number that was used in memory.
	Settle func(tx *store.Tx, c Count) error
}

// hold uses the number of a command that the disk does not take, if it has one.
func (cs *Commands) hold(c *Count, keep func() error) error {
	if c == nil {
		return keep()
	}
	return cs.o.Counters().Hold(*c, keep)
}
