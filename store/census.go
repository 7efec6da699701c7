package store

import (
	"slices"

	"go.etcd.io/bbolt"

	"roomgate/store/layout"
)

// Count is how much a table or a queue holds.
type Count struct {
	Name  string `json:"name"` // as "table:bookings"
	Rows  int    `json:"rows"`
	Bytes int    `json:"bytes"` // of the keys and values, without the tree around them
}

// Census counts all rows. It reads every page, in several transactions, so that none is long.
func (db *DB) Census() (all []Count, err error) {
	var names [][]byte
	err = db.View(func(tx *Tx) error {
		return tx.bolt.ForEach(func(name []byte, _ *bbolt.Bucket) error {
			if !layout.IsOwn(string(name)) {
				names = append(names, append([]byte(nil), name...))
			}
			return nil
		})
	})
	for _, name := range names {
		if err == nil {
			queue := layout.QueueOf(string(name)) // with its tail
			i := slices.IndexFunc(all, func(c Count) bool { return c.Name == queue })
			if i < 0 {
				i, all = len(all), append(all, Count{Name: queue})
			}
			err = db.View(func(tx *Tx) error { return all[i].take(tx.bolt.Bucket(name)) })
		}
	}
	return all, err
}

func (c *Count) take(b *bbolt.Bucket) error {
	if b == nil {
		return nil
	}
	return b.ForEach(func(k, v []byte) error {
		c.Rows++
		c.Bytes += len(k) + len(v)
		return nil
	})
}
