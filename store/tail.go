package store

import (
	"context"
	"errors"

	"roomgate/store/queue"
)

// tailBulk is how many rows in one commit let the next one write where they stay: many share the way.
const tailBulk = 16

// pace begins the count of the rows that the next transaction adds to a queue, and says whether the last one added so
// many that they go where they stay.
func (db *DB) pace(queue string) (bulk bool) {
	bulk = db.pushed[queue] >= tailBulk
	db.pushed[queue] = 0
	return bulk
}

// emptyTails moves the rows of all tails in a transaction of its own, for who begins to use a database, and left, or ends
// it. It writes nothing where there is nothing to move. If it fails, nothing is lost: the rows are where they were.
func (db *DB) emptyTails(left bool) {
	if db.lock == nil || db.readOnly || db.writes.failure() != nil {
		return // it was not opened to be written
	}
	err := db.Update(context.Background(), func(tx *Tx) error {
		return tx.noted(queue.EmptyTails(tx.bolt, &tx.writes, tx.enc, left))
	})
	if err != nil && !errors.Is(err, ErrClosed) {
		db.log.Warn("the youngest rows of a queue stay where an earlier version does not see them", "error", err)
	}
}
