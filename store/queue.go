package store

import (
	"encoding/binary"
	"fmt"
	"math"

	"roomgate/store/pages"
)

// Policy says what Push does when a queue holds its maximum.
type Policy int

// The policies.
const (
	DropOldest Policy = iota // the oldest row goes, Dropped counts it
	Refuse                   // Push returns ErrQueueFull
)

// Queue holds values of T under ascending sequence numbers. The first is 1 unless a damaged file was lost before
// (see Open), and none is ever given twice, not after Trim, a restart, or the restore of a snapshot.
type Queue[T any] struct {
	name   string
	bucket []byte
	seed   uint32
	max    int
	full   Policy
}

// Item is one row of a queue.
type Item[T any] struct {
	Seq   uint64
	Value T
}

// maxDropped bounds the rows one Push drops after the maximum of a long queue was lowered.
const maxDropped = 1000

// NewQueue names a queue that holds at most limit rows, at least one.
func NewQueue[T any](name string, limit int, full Policy) Queue[T] {
	bucket := []byte("queue:" + name)
	return Queue[T]{name: name, bucket: bucket, seed: pages.Seed(bucket), max: limit, full: full}
}

func (q Queue[T]) wrap(seq uint64, err error) error {
	return fmt.Errorf("queue %q, row %d: %w", q.name, seq, err)
}

// head returns what is known of the queue in this transaction, and makes its bucket on first use.
func (q Queue[T]) head(tx *Tx) (*head, error) {
	if q.max < 1 {
		return nil, fmt.Errorf("queue %q: its maximum must be at least 1, not %d", q.name, q.max)
	}
	if h := tx.heads[q.name]; h != nil && tx.bolt != nil {
		return h, nil
	}
	made := len(tx.undo)
	b, err := tx.writable(q.bucket)
	if err != nil {
		return nil, fmt.Errorf("queue %q: %w", q.name, err)
	}
	h, err := newHead(b, q.seed)
	if err != nil {
		return nil, q.wrap(0, err)
	}
	if len(tx.undo) > made && tx.db.base > 0 {
		err = h.setSequence(tx, tx.db.base)
	}
	tx.heads[q.name] = h
	return h, err
}

// Push appends v and returns its sequence number.
func (q Queue[T]) Push(tx *Tx, v T) (uint64, error) {
	h, err := q.head(tx)
	if err != nil {
		return 0, err
	}
	seq := h.bucket.Sequence() + 1
	key := sequenceKey(seq)
	raw, err := tx.enc.encode(q.seed, key, v)
	if err != nil {
		return 0, q.wrap(seq, err)
	}
	if err := q.makeRoom(tx, h); err != nil {
		return 0, err
	}
	if err := h.push(tx, seq, key, raw); err != nil {
		return 0, q.wrap(seq, err)
	}
	return seq, nil
}

func (q Queue[T]) makeRoom(tx *Tx, h *head) error {
	over := h.length() - q.max + 1
	if over <= 0 {
		return nil
	}
	if q.full == Refuse {
		return fmt.Errorf("queue %q with %d rows: %w", q.name, q.max, ErrQueueFull)
	}
	for range min(over, maxDropped) {
		if err := h.dropOldest(tx); err != nil {
			return q.wrap(h.first, err)
		}
	}
	return nil
}

// Get returns the value of one row, ErrNotFound or ErrDamaged.
func (q Queue[T]) Get(tx *Tx, seq uint64) (T, error) {
	if seq == 0 { // the key of the counters
		var zero T
		return zero, q.wrap(seq, ErrNotFound)
	}
	v, err := get[T](tx, q.bucket, q.seed, sequenceKey(seq))
	if err != nil {
		return v, tx.noted(q.wrap(seq, err))
	}
	return v, nil
}

// Set replaces the value of a row that is in the queue; ErrNotFound if it is not.
func (q Queue[T]) Set(tx *Tx, seq uint64, v T) error {
	b, err := tx.present(q.bucket)
	if err != nil {
		return q.wrap(seq, err)
	}
	key := sequenceKey(seq)
	if b == nil || seq == 0 || b.Get(key) == nil {
		return q.wrap(seq, ErrNotFound)
	}
	raw, err := tx.enc.encode(q.seed, key, v)
	if err != nil {
		return q.wrap(seq, err)
	}
	if err := tx.put(b, key, raw); err != nil {
		return q.wrap(seq, err)
	}
	return nil
}

// After returns up to limit rows with numbers above seq, oldest first. A damaged row is left out, so that it cannot
// hold up those behind it, and tx.Err says so.
func (q Queue[T]) After(tx *Tx, seq uint64, limit int) ([]Item[T], error) {
	b, err := tx.bucket(q.bucket)
	if err != nil || b == nil || seq == math.MaxUint64 {
		return nil, err
	}
	c := b.Cursor()
	k, raw := c.Seek(sequenceKey(seq + 1))
	return q.collect(tx, k, raw, c.Next, limit), nil
}

// Before returns up to limit rows with numbers below seq, newest first; math.MaxUint64 begins at the end. Damaged
// rows are treated as in After.
func (q Queue[T]) Before(tx *Tx, seq uint64, limit int) ([]Item[T], error) {
	b, err := tx.bucket(q.bucket)
	if err != nil || b == nil {
		return nil, err
	}
	c := b.Cursor()
	k, raw := c.Seek(sequenceKey(seq))
	if k == nil {
		k, raw = c.Last()
	}
	if k != nil && binary.BigEndian.Uint64(k) >= seq {
		k, raw = c.Prev()
	}
	return q.collect(tx, k, raw, c.Prev, limit), nil
}

func (q Queue[T]) collect(tx *Tx, k, raw []byte, next func() ([]byte, []byte), limit int) []Item[T] {
	items := make([]Item[T], 0, max(0, min(limit, 128)))
	for ; k != nil && len(items) < limit; k, raw = next() {
		item := Item[T]{Seq: binary.BigEndian.Uint64(k)}
		if item.Seq == 0 {
			break
		}
		if err := decode(q.seed, k, raw, &item.Value); err != nil {
			tx.damaged(q.wrap(item.Seq, err))
			continue
		}
		items = append(items, item)
	}
	return items
}

// Last is the number given last, 0 if there never was a row.
func (q Queue[T]) Last(tx *Tx) uint64 {
	if h := q.peek(tx); h != nil {
		return h.bucket.Sequence()
	}
	return 0
}

// First is the number of the oldest row, 0 if the queue is empty.
func (q Queue[T]) First(tx *Tx) uint64 {
	if h := q.peek(tx); h != nil {
		return h.first
	}
	return 0
}

// Len is the number of rows. It reads two keys only.
func (q Queue[T]) Len(tx *Tx) int {
	if h := q.peek(tx); h != nil {
		return h.length()
	}
	return 0
}

// Dropped is how many rows DropOldest has removed since the queue was made.
func (q Queue[T]) Dropped(tx *Tx) uint64 {
	if h := q.peek(tx); h != nil {
		return h.state.Dropped
	}
	return 0
}

// peek is head for reading: nil if there is no queue.
func (q Queue[T]) peek(tx *Tx) *head {
	if h := tx.heads[q.name]; h != nil {
		return h
	}
	b, err := tx.bucket(q.bucket)
	if err != nil || b == nil {
		return nil
	}
	h, err := newHead(b, q.seed)
	if err != nil {
		tx.damaged(q.wrap(0, err))
	}
	return h
}

// Trim removes the rows up to and with number upTo and returns how many there were.
func (q Queue[T]) Trim(tx *Tx, upTo uint64) (int, error) {
	b, err := tx.present(q.bucket)
	if err != nil || b == nil {
		return 0, err
	}
	h, err := q.head(tx)
	if err != nil {
		return 0, err
	}
	n, err := h.trim(tx, upTo)
	if err != nil {
		return n, fmt.Errorf("queue %q: %w", q.name, err)
	}
	return n, nil
}

// Bucket is what a repair calls the queue, as "queue:log".
func (q Queue[T]) Bucket() string { return string(q.bucket) }
