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
	// Branch is the place of the first row that follows from an older one than the one before it, while every row
	// follows from some: an earlier version has gone on without the youngest rows, as it does not see them after a
	// power cut. From is the place of the row it follows from, 0 if the log has dropped it. Branch is 0 if there is none.
	Branch uint64 `json:"branch,omitempty"`
	From   uint64 `json:"from,omitempty"`
	Whole  bool   `json:"whole"` // all rows were looked at, or a bad one was found
}

// chainPage is how many rows are read at once, so that nobody waits for it.
const chainPage = 500

// unseen is more rows than an earlier version may not see, and less numbers than
// it then leaves out.
const unseen = 250

// Verify follows the chain from the oldest row on until ctx ends. It does not miss rows that the log
// drops meanwhile.
func (l *Log) Verify(ctx context.Context) (c Chain, err error) {
	var newest trail
	for ctx.Err() == nil {
		page, oldest, err := l.pageFrom(c.Last)
		if err != nil || len(page) == 0 {
			c.Whole = err == nil
			return c, err
		}
		for _, item := range page {
			// Nobody knows any more which rows the log has dropped since.
			known := c.Last != 0 && (oldest <= c.Last || item.Seq == c.Last+1)
			if c.Bad, err = c.follow(item, &newest, known); err != nil || c.Bad != 0 {
				c.Whole = err == nil
				return c, err
			}
			newest.add(item)
			c.Rows, c.Last = c.Rows+1, item.Seq
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
func (c *Chain) follow(item store.Item[Row], newest *trail, known bool) (bad uint64, err error) {
	r := item.Value
	if len(r.Sum) == 0 {
		if c.First != 0 {
			c.Missing = true
			return item.Seq, nil
		}
		return 0, nil
	}
	if known {
		fits, err := r.follows(newest.last())
		if err == nil && !fits {
			fits, err = c.branches(item, newest)
		}
		if err != nil || !fits {
			return item.Seq, err
		}
	}
	if c.First == 0 {
		c.First = item.Seq
	}
	return 0, nil
}

// follows says whether a row was written after the one with the sum before.
func (r Row) follows(before []byte) (bool, error) {
	want, err := r.sum(before)
	return bytes.Equal(r.Sum, want), err
}

// branches says whether a row with a new number was written after one of those
// before the last, and notes the first such row. It may follow from one that the
// log has dropped.
func (c *Chain) branches(item store.Item[Row], newest *trail) (bool, error) {
	if item.Seq-c.Last <= unseen {
		return false, nil
	}
	from := uint64(0)
	fits, err := item.Value.follows(nil) // it saw no row
	fits = c.Rows < unseen && (fits || newest.first > 1)
	for i := 1; err == nil && i < len(newest.rows); i++ {
		before := newest.rows[len(newest.rows)-1-i]
		var follows bool
		if follows, err = item.Value.follows(before.sum); follows {
			from, fits = before.seq, true
			break
		}
	}
	if fits && c.Branch == 0 {
		c.Branch, c.From = item.Seq, from
	}
	return fits, err
}

// trail is what is known of the rows that were looked at last, oldest first.
type trail struct {
	first uint64 // the place of the first row of all
	rows  []seen
}

type seen struct {
	seq uint64
	sum []byte
}

func (t *trail) add(item store.Item[Row]) {
	if t.first == 0 {
		t.first = item.Seq
	}
	if len(t.rows) == 2*unseen {
		t.rows = append(t.rows[:0], t.rows[unseen:]...)
	}
	t.rows = append(t.rows, seen{item.Seq, item.Value.Sum})
}

// last is the sum of the row before.
func (t *trail) last() []byte {
	if len(t.rows) == 0 {
		return nil
	}
	return t.rows[len(t.rows)-1].sum
}
