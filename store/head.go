package store

import (
	"cmp"
	"errors"
	"math"

	"go.etcd.io/bbolt"

	"roomgate/store/layout"
	"roomgate/store/pages"
	"roomgate/store/sealed"
)

// head is what a transaction knows of a queue: where it begins, and its counters. It is shared by the functions of a
// group, so that a push costs one search in the tree and not four.
type head struct {
	bucket *bbolt.Bucket
	seed   uint32
	first  uint64 // 0: empty
	state  layout.State
	dirty  bool  // state is to be written at the end of the function
	saved  *Tx   // the function whose undo list holds the sequence already
	tail   *tail // nil: the queue has none
}

func newHead(tx *bbolt.Tx, name []byte, b *bbolt.Bucket, tailed bool) (*head, error) {
	b.FillPercent = 0.95 // rows are only appended; splitting pages in the middle would waste half of each
	h := &head{bucket: b, seed: pages.Seed(name)}
	var err, beside, wrong error
	h.first, beside = layout.FirstFrom(b, h.seed, 1)
	if raw := b.Get(layout.StateKey); raw != nil {
		err = sealed.Decode(h.seed, layout.StateKey, raw, &h.state)
	}
	k, raw := layout.Last(b.Cursor())
	if tailed {
		h.tail, wrong = newTail(tx, name, k)
	}
	return h, cmp.Or(err, beside, layout.AtEnd(b, h.seed, h.state.Gaps, k, raw), wrong)
}

// length counts rows by arithmetic: they are contiguous but for the gaps.
func (h *head) length() int {
	if h.first == 0 {
		return 0
	}
	n, end := h.tail.rows(), h.bucket.Sequence()
	if n > 0 {
		end = h.tail.first - 1
	}
	n += end - h.first + 1
	for _, g := range h.gaps() {
		if g.At <= end+1 {
			n -= min(n, g.N)
		}
	}
	return int(min(n, math.MaxInt))
}

// gaps are those that still lie behind the oldest row.
func (h *head) gaps() []layout.Gap {
	var behind []layout.Gap
	for _, g := range h.state.Gaps {
		if g.At > h.first {
			behind = append(behind, g)
		}
	}
	return behind
}

func (h *head) push(tx *Tx, seq uint64, key, raw []byte) error {
	if h.tail != nil {
		if taken, err := h.tail.push(tx, h, seq, key, raw); taken || err != nil {
			return err
		}
	}
	if err := h.setSequence(tx, seq); err != nil {
		return err
	}
	if h.first == 0 {
		h.first = seq
	}
	return tx.replace(h.bucket, key, nil, raw)
}

func (h *head) setSequence(tx *Tx, seq uint64) error { return tx.setSequence(h.bucket, &h.saved, seq) }

// last is the number given last.
func (h *head) last() uint64 {
	if h.tail.rows() > 0 {
		return h.tail.last
	}
	return h.bucket.Sequence()
}

// inTail says that a number is not below those of the tail.
func (h *head) inTail(seq uint64) bool { return h.tail.rows() > 0 && seq >= h.tail.first }

// emptyTail leaves no row in the tail: if one there is to be changed, and if there are no others. An earlier version that
// goes on without those of the tail then leaves one that is older.
func (h *head) emptyTail(tx *Tx, changes bool) error {
	if !changes || h.tail == nil {
		return nil
	}
	return h.tail.moveAll(tx, h)
}

// removeFirst deletes the oldest row and finds the next, or only finds it if a row that should be there is not.
func (h *head) removeFirst(tx *Tx) (removed bool, err error) {
	key := layout.Key(h.first)
	old, err := layout.Find(h.bucket, h.seed, key)
	if err != nil {
		return false, err
	}
	if old == nil {
		h.first, err = layout.FirstFrom(h.bucket, h.seed, h.first)
		return false, err
	}
	if err := tx.remove(h.bucket, key, old); err != nil {
		return false, err
	}
	switch {
	case h.first == h.bucket.Sequence():
		h.first = 0
	case len(h.state.Gaps) == 0:
		h.first++
	default:
		h.first, err = layout.FirstFrom(h.bucket, h.seed, h.first+1)
	}
	return true, err
}

func (h *head) dropOldest(tx *Tx) error {
	removed, err := h.removeFirst(tx)
	if removed {
		h.state.Dropped++
		h.dirty = true
	}
	return errors.Join(err, h.emptyTail(tx, h.first == 0))
}

func (h *head) trim(tx *Tx, upTo uint64) (n int, err error) {
	if err := h.emptyTail(tx, h.inTail(upTo)); err != nil {
		return 0, err
	}
	for h.first != 0 && h.first <= upTo {
		removed, err := h.removeFirst(tx)
		if err != nil {
			return n, err
		}
		if removed {
			n++
		}
	}
	return n, h.emptyTail(tx, h.first == 0)
}

// flush writes the counters.
func (h *head) flush(tx *Tx) error {
	if !h.dirty {
		return nil
	}
	h.state.Gaps = h.gaps()
	old, err := layout.Find(h.bucket, h.seed, layout.StateKey)
	if err != nil {
		return tx.noted(err)
	}
	raw, err := tx.enc.Encode(h.seed, layout.StateKey, h.state)
	if err != nil {
		return err
	}
	h.dirty = false
	return tx.change(h.bucket, layout.StateKey, old, raw)
}

// skip moves the sequence to seq, past the numbers that may have been given out already.
func (h *head) skip(tx *Tx, seq uint64) error {
	if err := h.emptyTail(tx, true); err != nil {
		return err
	}
	if h.first > 0 {
		h.state.Gaps = append(h.gaps(), layout.Gap{At: seq + 1, N: seq - h.bucket.Sequence()})
		h.dirty = true
	}
	if err := h.setSequence(tx, seq); err != nil {
		return err
	}
	return h.flush(tx)
}
