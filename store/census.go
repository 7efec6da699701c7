package store

import (
	"strings"

	"go.etcd.io/bbolt"
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
			if !strings.HasPrefix(string(name), "meta:") {
				names = append(names, append([]byte(nil), name...))
			}
			return nil
		})
	})
	for _, name := range names {
		if err == nil {
			c := Count{Name: string(name)}
			err = db.View(func(tx *Tx) error { return c.take(tx.bolt.Bucket(name)) })
			all = append(all, c)
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
