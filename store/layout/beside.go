package layout

import (
	"bytes"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"

	"roomgate/store/pages"
)

// Where a part of a page has become zeros, bbolt passes rows that are there, or goes on to another page; it then stops
// beside a row whose seal is broken, or which does not belong there. So a row is missing only if both rows beside its place
// are sound, and a row is appended only behind the one that was appended last.

// Find returns a row in its stored form, nil if there is none; seed is that of its bucket, see pages.Seed. The errors here wrap
// pages.ErrDamaged.
func Find(b *bbolt.Bucket, seed uint32, key []byte) ([]byte, error) {
	c := b.Cursor()
	k, value := c.Seek(key)
	if bytes.Equal(k, key) {
		return value, nil
	}
	if err := beside(seed, key, k, value, 1); err != nil {
		return nil, err
	}
	k, value = c.Prev()
	return nil, beside(seed, key, k, value, -1)
}

// From moves a cursor to the first row that is not below key. The error says that it may have passed some.
func From(c *bbolt.Cursor, seed uint32, key []byte) (k, value []byte, err error) {
	if k, value = c.Seek(key); len(key) == 0 {
		return k, value, nil
	}
	before, raw := c.Prev()
	err = beside(seed, key, before, raw, -1)
	k, value = c.Seek(key)
	return k, value, err
}

// beside looks at a row next to the place of key: side is how its key compares. No row is sound.
func beside(seed uint32, key, k, value []byte, side int) error {
	if k == nil {
		return nil
	}
	_, err := pages.Payload(seed, k, value)
	if err == nil && bytes.Compare(k, key) != side {
		err = fmt.Errorf("%w: it is on the wrong side", pages.ErrDamaged)
	}
	if err != nil {
		return fmt.Errorf("the row beside it, %q: %w", k, err)
	}
	return nil
}

// Last returns the last row. bbolt looks for one for ever where a transaction has emptied several pages and left none.
func Last(c *bbolt.Cursor) (k, value []byte) {
	if k, _ := c.First(); k == nil {
		return nil, nil
	}
	return c.Last()
}

// AtEnd refuses a bucket of a queue, or of its tail, whose last row, which is k, has not the number that was given last: its last
// page is damaged, or it is an older one. gaps are the numbers that were skipped.
func AtEnd(b *bbolt.Bucket, seed uint32, gaps []Gap, k, value []byte) error {
	if k == nil {
		return nil
	}
	if _, err := pages.Payload(seed, k, value); err != nil {
		return fmt.Errorf("the last row, %x: %w", k, err)
	}
	n, given := Number(k)
	skipped := slices.ContainsFunc(gaps, func(g Gap) bool { return g.At == b.Sequence()+1 })
	if given && (n == 0 || n == b.Sequence() || skipped) {
		return nil
	}
	return fmt.Errorf("%w: the last row is %x, and the last number is %d", pages.ErrDamaged, k, b.Sequence())
}

// IsState says that a row of a queue is its counters, and not one whose key is lost.
func IsState(seed uint32, k, value []byte) bool {
	_, err := pages.Payload(seed, k, value)
	return err == nil && bytes.Equal(k, StateKey)
}

// FirstFrom is First that looks at what is before that row as well.
func FirstFrom(b *bbolt.Bucket, seed uint32, seq uint64) (uint64, error) {
	k, _, err := From(b.Cursor(), seed, Key(seq))
	n, _ := Number(k)
	return n, err
}
