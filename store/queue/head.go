package queue

import (
	"cmp"
	"errors"
	"math"

	"go.etcd.io/bbolt"

	"roomgate/store/layout"
	"roomgate/store/pages"
	"roomgate/store/sealed"
	"roomgate/store/undo"
)

// Options say which queue it is, and how it is written.
type Options struct {
	Bucket  []byte          // its name, as layout.Queue makes it
	Tailed  bool            // its youngest rows may lie beside the others
	Encoder *sealed.Encoder // of the counters; nil where nothing is written
}

// Head is what a transaction knows of a queue: where it begins, and its counters. It is shared by the functions of a
// group, so that a push costs one search in the tree and not four.
type Head struct {
	bucket *bbolt.Bucket
	enc    *sealed.Encoder
	seed   uint32
	first  uint64 // 0: empty
	state  layout.State
	dirty  bool         // state is to be written at the end of the function
	saved  *undo.Writer // has noted the sequence before
	tail   *tail        // nil: the queue has none
}

// Open reads what a transaction has to know of the queue in bucket b. With an error, it knows as much as could be read.
func Open(tx *bbolt.Tx, b *bbolt.Bucket, o Options) (*Head, error) {
	b.FillPercent = 0.95 // rows are only appended; splitting pages in the middle would waste half of each
	h := &Head{bucket: b, enc: o.Encoder, seed: pages.Seed(o.Bucket)}
	var err, beside, wrong error
	h.first, beside = layout.FirstFrom(b, h.seed, 1)
	if raw := b.Get(layout.StateKey); raw != nil {
		err = sealed.Decode(h.seed, layout.StateKey, raw, &h.state)
	}
	k, raw := layout.Last(b.Cursor())
	if o.Tailed {
		h.tail, wrong = newTail(tx, o, k)
	}
	return h, cmp.Or(err, beside, layout.AtEnd(b, h.seed, h.state.Gaps, k, raw), wrong)
}

// First is the number of the oldest row, 0 if the queue is empty.
func (h *Head) First() uint64 { return h.first }

// Dropped is how many rows DropOldest has removed since the queue was made.
func (h *Head) Dropped() uint64 { return h.state.Dropped }

// Len counts rows by arithmetic: they are contiguous but for the gaps.
func (h *Head) Len() int {
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
func (h *Head) gaps() []layout.Gap {
	var behind []layout.Gap
	for _, g := range h.state.Gaps {
		if g.At > h.first {
			behind = append(behind, g)
		}
	}
	return behind
}

// Push appends a row, whose number is that after Last.
func (h *Head) Push(w *undo.Writer, seq uint64, key, raw []byte) error {
	if h.tail != nil {
		if taken, err := h.tail.push(w, h, seq, key, raw); taken || err != nil {
			return err
		}
	}
	if err := h.SetSequence(w, seq); err != nil {
		return err
	}
	if h.first == 0 {
		h.first = seq
	}
	return w.Put(h.bucket, key, nil, raw)
}

// SetSequence sets the number given last of a queue without rows.
func (h *Head) SetSequence(w *undo.Writer, seq uint64) error {
	return w.SetSequence(h.bucket, &h.saved, seq)
}

// Last is the number given last.
func (h *Head) Last() uint64 {
	if h.tail.rows() > 0 {
		return h.tail.last
	}
	return h.bucket.Sequence()
}

// Tailed says that new rows may go into a tail.
func (h *Head) Tailed() bool { return h.tail != nil }

// Direct says whether this transaction writes all rows where they stay. The queue is Tailed.
func (h *Head) Direct(all bool) { h.tail.direct = all }

// Settle moves row seq to where it stays, if it is in the tail, as it is to be changed.
func (h *Head) Settle(w *undo.Writer, seq uint64) error { return h.emptyTail(w, h.inTail(seq)) }

// inTail says that a number is not below those of the tail.
func (h *Head) inTail(seq uint64) bool { return h.tail.rows() > 0 && seq >= h.tail.first }

// emptyTail leaves no row in the tail: if one there is to be changed, and if there are no others. An earlier version that
// goes on without those of the tail then leaves one that is older.
func (h *Head) emptyTail(w *undo.Writer, changes bool) error {
	if !changes || h.tail == nil {
		return nil
	}
	return h.tail.moveAll(w, h)
}

// removeFirst deletes the oldest row and finds the next, or only finds it if a row that should be there is not.
func (h *Head) removeFirst(w *undo.Writer) (removed bool, err error) {
	key := layout.Key(h.first)
	old, err := layout.Find(h.bucket, h.seed, key)
	if err != nil {
		return false, err
	}
	if old == nil {
		h.first, err = layout.FirstFrom(h.bucket, h.seed, h.first)
		return false, err
	}
	if err := w.Delete(h.bucket, key, old); err != nil {
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

// DropOldest removes the oldest row and counts it.
func (h *Head) DropOldest(w *undo.Writer) error {
	removed, err := h.removeFirst(w)
	if removed {
		h.state.Dropped++
		h.dirty = true
	}
	return errors.Join(err, h.emptyTail(w, h.first == 0))
}

// Trim removes the rows up to and with number upTo and returns how many there were.
func (h *Head) Trim(w *undo.Writer, upTo uint64) (n int, err error) {
	if err := h.emptyTail(w, h.inTail(upTo)); err != nil {
		return 0, err
	}
	for h.first != 0 && h.first <= upTo {
		removed, err := h.removeFirst(w)
		if err != nil {
			return n, err
		}
		if removed {
			n++
		}
	}
	return n, h.emptyTail(w, h.first == 0)
}

// Flush writes the counters, if they have changed.
func (h *Head) Flush(w *undo.Writer) error {
	if !h.dirty {
		return nil
	}
	h.state.Gaps = h.gaps()
	old, err := layout.Find(h.bucket, h.seed, layout.StateKey)
	if err != nil {
		return err
	}
	raw, err := h.enc.Encode(h.seed, layout.StateKey, h.state)
	if err != nil {
		return err
	}
	h.dirty = false
	return w.Change(h.bucket, layout.StateKey, old, raw)
}

// Skip moves the sequence to seq, past the numbers that may have been given out already.
func (h *Head) Skip(w *undo.Writer, seq uint64) error {
	if err := h.emptyTail(w, true); err != nil {
		return err
	}
	if h.first > 0 {
		h.state.Gaps = append(h.gaps(), layout.Gap{At: seq + 1, N: seq - h.bucket.Sequence()})
		h.dirty = true
	}
	if err := h.SetSequence(w, seq); err != nil {
		return err
	}
	return h.Flush(w)
}
