package eventlog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"

	"roomgate/store"
)

// The rows of the log are a chain: each has a sum over itself and the sum of the
// row before it. Who changes, takes away or puts in a row breaks the chain there,
// or has to make all sums after it again, and then the newest is not the one that
// the heartbeat has told the cloud. The chain begins with the first row that was
// written with a sum; those before it, of an earlier version, are as they are.

// sumSize is the size of a sum in bytes, of SHA-256: enough that nobody finds
// another row with the same one, and little to write for each change.
const sumSize = 12

// sum is that of a row after the one with the sum before; empty: the chain
// begins with it.
func (r Row) sum(before []byte) ([]byte, error) {
	r.Sum = nil
	text, err := r.AppendJSON(append([]byte{byte(len(before))}, before...))
	all := sha256.Sum256(text)
	return all[:sumSize], err
}

// lastSum is that of the newest row; empty: it has none, or cannot be read.
func (l *Log) lastSum(tx *store.Tx) ([]byte, error) {
	newest, err := l.rows.Before(tx, l.rows.Last(tx)+1, 1)
	if errors.Is(err, store.ErrDamaged) || err == nil && len(newest) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return newest[0].Value.Sum, nil
}

// push appends rows to the chain, and returns the place of the last.
func (l *Log) push(tx *store.Tx, rows ...Row) (seq uint64, err error) {
	if len(rows) == 0 {
		return 0, nil
	}
	before, err := l.lastSum(tx)
	for _, r := range rows {
		if err != nil {
			return 0, err
		}
		if r.Sum, err = r.sum(before); err != nil {
			return 0, err
		}
		before = r.Sum
		seq, err = l.rows.Push(tx, r)
	}
	return seq, err
}

// Head is the newest row's place and sum, which stands for all of the log before
// it; 0 and empty of a log without rows.
func (l *Log) Head() (seq uint64, sum []byte, err error) {
	err = l.db.View(func(tx *store.Tx) (err error) {
		seq = l.rows.Last(tx)
		sum, err = l.lastSum(tx)
		return err
	})
	return seq, sum, err
}

// Chain is how the log was found.
type Chain struct {
	Rows  int    `json:"rows"`  // that were looked at
	First uint64 `json:"first"` // the place of the first that has a sum; 0: none has
	Last  uint64 `json:"last"`  // of the last that was looked at
	// Bad is the place of the first row that does not follow from the one before
	// it, 0 if each does, and Missing says that it has no sum at all.
	Bad     uint64 `json:"bad,omitempty"`
	Missing bool   `json:"missing,omitempty"`
	Whole   bool   `json:"whole"` // all rows were looked at, or a bad one was found
}

// chainPage is how many rows are read at once, so that nobody waits for it.
const chainPage = 500

// Verify follows the chain from the oldest row on until ctx ends. What the log
// drops meanwhile is not missed.
func (l *Log) Verify(ctx context.Context) (c Chain, err error) {
	var before []byte
	for ctx.Err() == nil {
		page, oldest, err := l.pageFrom(c.Last)
		if err != nil || len(page) == 0 {
			c.Whole = err == nil
			return c, err
		}
		for _, item := range page {
			// What the log has dropped since it was looked at nobody knows any more.
			known := c.Last != 0 && (oldest <= c.Last || item.Seq == c.Last+1)
			if c.Bad, err = c.follow(item, before, known); err != nil || c.Bad != 0 {
				c.Whole = err == nil
				return c, err
			}
			before, c.Rows, c.Last = item.Value.Sum, c.Rows+1, item.Seq
		}
	}
	return c, nil
}

// pageFrom is a page of the rows after a place, and the place of the oldest row.
func (l *Log) pageFrom(after uint64) (page []store.Item[Row], oldest uint64, err error) {
	err = l.db.View(func(tx *store.Tx) (err error) {
		oldest = l.rows.First(tx)
		page, err = l.rows.After(tx, after, chainPage)
		return err
	})
	return page, oldest, err
}

// follow looks at one row, and returns its place if it is bad. Its sum can be
// told if the row before it is known.
func (c *Chain) follow(item store.Item[Row], before []byte, known bool) (bad uint64, err error) {
	r := item.Value
	if len(r.Sum) == 0 {
		if c.First != 0 {
			c.Missing = true
			return item.Seq, nil
		}
		return 0, nil
	}
	if known {
		want, err := r.sum(before)
		if err != nil || !bytes.Equal(r.Sum, want) {
			return item.Seq, err
		}
	}
	if c.First == 0 {
		c.First = item.Seq
	}
	return 0, nil
}
