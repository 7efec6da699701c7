package store

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"go.etcd.io/bbolt"

	"roomgate/store/layout"
	"roomgate/store/pages"
	"roomgate/store/queue"
	"roomgate/store/sealed"
)

// Policy says what Push does when a queue holds its maximum.
type Policy int

// The policies.
const (
	DropOldest Policy = iota // the oldest row goes, in a queue of 2000 rows or more the oldest thousandth (at most 100 rows); Dropped counts them
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
	tailed bool
}

// Item is one row of a queue.
type Item[T any] struct {
	Seq   uint64
	Value T
}

// maxDropped bounds the rows one Push drops after the maximum of a long queue was lowered.
const maxDropped = 1000

// lot is how many rows a full queue drops at once, to spare the card: the pages of the oldest rows are far from those of
// the newest, and would else be written with each of them. It is at most a thousandth of the queue, and at most 100.
func (q Queue[T]) lot() int { return max(1, min(q.max/1000, 100)) }

// NewQueue names a queue that holds at most limit rows, at least one.
func NewQueue[T any](name string, limit int, full Policy) Queue[T] {
	bucket := layout.Queue(name)
	return Queue[T]{name: name, bucket: bucket, seed: pages.Seed(bucket), max: limit, full: full}
}

// Tailed is the same queue, which writes its youngest rows into a bucket of their own at first: for a long queue to which
// mostly few rows are added at a time. Row and sequence are in it like in any other.
func (q Queue[T]) Tailed() Queue[T] {
	q.tailed = true
	return q
}

func (q Queue[T]) options(tx *Tx) queue.Options {
	return queue.Options{Bucket: q.bucket, Tailed: q.tailed, Encoder: tx.enc}
}

func (q Queue[T]) wrap(seq uint64, err error) error {
	return fmt.Errorf("queue %q, row %d: %w", q.name, seq, err)
}

// head returns what is known of the queue in this transaction, and makes its bucket on first use.
func (q Queue[T]) head(tx *Tx) (*queue.Head, error) {
	if q.max < 1 {
		return nil, fmt.Errorf("queue %q: its maximum must be at least 1, not %d", q.name, q.max)
	}
	if h := tx.heads[q.name]; h != nil && tx.bolt != nil {
		return h, nil
	}
	made := tx.writes.Count()
	b, err := tx.writable(q.bucket)
	if err != nil {
		return nil, fmt.Errorf("queue %q: %w", q.name, err)
	}
	h, err := queue.Open(tx.bolt, b, q.options(tx))
	if err != nil {
		return nil, tx.noted(q.wrap(0, err))
	}
	if tx.writes.Count() > made && tx.db.base > 0 {
		err = h.SetSequence(&tx.writes, tx.db.base)
	}
	if h.Tailed() {
		h.Direct(tx.db.pace(q.name))
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
	seq := h.Last() + 1
	key := layout.Key(seq)
	raw, err := tx.enc.Encode(q.seed, key, v)
	if err != nil {
		return 0, q.wrap(seq, err)
	}
	if err := q.evict(tx, h); err != nil {
		return 0, err
	}
	if err := h.Push(&tx.writes, seq, key, raw); err != nil {
		return 0, tx.noted(q.wrap(seq, err))
	}
	if q.tailed {
		tx.db.pushed[q.name]++
	}
	return seq, nil
}

func (q Queue[T]) evict(tx *Tx, h *queue.Head) error {
	over := h.Len() - q.max + 1
	if over <= 0 {
		return nil
	}
	if q.full == Refuse {
		return fmt.Errorf("queue %q with %d rows: %w", q.name, q.max, ErrQueueFull)
	}
	for range min(over+q.lot()-1, maxDropped) {
		if err := h.DropOldest(&tx.writes); err != nil {
			return tx.noted(q.wrap(h.First(), err))
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
	v, err := get[T](tx, q.bucket, q.seed, layout.Key(seq))
	if q.tailed && errors.Is(err, ErrNotFound) {
		for _, name := range layout.TailsOf(q.bucket) {
			if v, err = get[T](tx, name, pages.Seed(name), layout.Key(seq)); !errors.Is(err, ErrNotFound) {
				break
			}
		}
	}
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
	if b != nil && q.tailed {
		h, err := q.head(tx)
		if err == nil {
			err = h.Settle(&tx.writes, seq)
		}
		if err != nil {
			return tx.noted(q.wrap(seq, err))
		}
	}
	if b == nil || seq == 0 {
		return q.wrap(seq, ErrNotFound)
	}
	key := layout.Key(seq)
	old, err := layout.Find(b, q.seed, key)
	if err != nil {
		return tx.noted(q.wrap(seq, err))
	}
	if old == nil {
		return q.wrap(seq, ErrNotFound)
	}
	raw, err := tx.enc.Encode(q.seed, key, v)
	if err != nil {
		return q.wrap(seq, err)
	}
	if err := tx.writes.Change(b, key, old, raw); err != nil {
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
	items := make([]Item[T], 0, max(0, min(limit, 128)))
	for _, part := range q.parts(tx, b) {
		c := part.Bucket.Cursor()
		k, raw, err := layout.From(c, part.Seed, layout.Key(seq+1))
		if err != nil {
			tx.damaged(q.wrap(seq+1, err))
		}
		items = q.collect(tx, part.Seed, k, raw, c.Next, items, limit)
	}
	return items, nil
}

// Before returns up to limit rows with numbers below seq, newest first; math.MaxUint64 begins at the end. Damaged
// rows are treated as in After.
func (q Queue[T]) Before(tx *Tx, seq uint64, limit int) ([]Item[T], error) {
	b, err := tx.bucket(q.bucket)
	if err != nil || b == nil {
		return nil, err
	}
	items := make([]Item[T], 0, max(0, min(limit, 128)))
	for _, part := range slices.Backward(q.parts(tx, b)) {
		c := part.Bucket.Cursor()
		from, _, err := layout.From(c, part.Seed, layout.Key(seq))
		if err != nil {
			tx.damaged(q.wrap(seq, err))
		}
		var k, raw []byte
		if from != nil {
			k, raw = c.Prev()
		} else {
			k, raw = layout.Last(c)
		}
		items = q.collect(tx, part.Seed, k, raw, c.Prev, items, limit)
	}
	return items, nil
}

// parts are the buckets of a queue, oldest rows first.
func (q Queue[T]) parts(tx *Tx, main *bbolt.Bucket) []queue.Part {
	all := []queue.Part{{Bucket: main, Seed: q.seed}}
	if q.tailed {
		tail, err := queue.Tail(tx.bolt, main, q.options(tx))
		if err != nil {
			tx.damaged(q.wrap(0, err))
		}
		all = append(all, tail...)
	}
	return all
}

func (q Queue[T]) collect(tx *Tx, seed uint32, k, raw []byte, next func() ([]byte, []byte), items []Item[T], limit int) []Item[T] {
	for ; k != nil && len(items) < limit; k, raw = next() {
		n, _ := layout.Number(k)
		if n == 0 && layout.IsState(seed, k, raw) {
			break
		}
		item := Item[T]{Seq: n}
		if err := sealed.Decode(seed, k, raw, &item.Value); err != nil {
			tx.damaged(q.wrap(n, err))
			continue
		}
		items = append(items, item)
	}
	return items
}

// Last is the number given last, 0 if there never was a row.
func (q Queue[T]) Last(tx *Tx) uint64 {
	if h := q.peek(tx); h != nil {
		return h.Last()
	}
	return 0
}

// First is the number of the oldest row, 0 if the queue is empty.
func (q Queue[T]) First(tx *Tx) uint64 {
	if h := q.peek(tx); h != nil {
		return h.First()
	}
	return 0
}

// Len is the number of rows. It reads two keys only.
func (q Queue[T]) Len(tx *Tx) int {
	if h := q.peek(tx); h != nil {
		return h.Len()
	}
	return 0
}

// Dropped is how many rows DropOldest has removed since the queue was made.
func (q Queue[T]) Dropped(tx *Tx) uint64 {
	if h := q.peek(tx); h != nil {
		return h.Dropped()
	}
	return 0
}

// peek is head for reading: nil if there is no queue.
func (q Queue[T]) peek(tx *Tx) *queue.Head {
	if h := tx.heads[q.name]; h != nil {
		return h
	}
	b, err := tx.bucket(q.bucket)
	if err != nil || b == nil {
		return nil
	}
	h, err := queue.Open(tx.bolt, b, q.options(tx))
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
	n, err := h.Trim(&tx.writes, upTo)
	if err != nil {
		return n, fmt.Errorf("queue %q: %w", q.name, err)
	}
	return n, nil
}

// Bucket is what a repair calls the queue, as "queue:log".
func (q Queue[T]) Bucket() string { return string(q.bucket) }
