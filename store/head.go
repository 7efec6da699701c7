package store

import (
	"encoding/binary"
	"math"

	"go.etcd.io/bbolt"
)

// head is what a transaction knows of a queue: where it begins, and its counters. It is shared by the functions of a
// group, so that a push costs one search in the tree and not four.
type head struct {
	bucket *bbolt.Bucket
	seed   uint32
	first  uint64 // 0: empty
	state  queueState
	dirty  bool // state is to be written at the end of the function
	saved  *Tx  // the function whose undo list holds the sequence already
}

// stateKey holds the counters. It sorts before every row, on the page that dropping rewrites anyway.
var stateKey = sequenceKey(0)

type queueState struct {
	Dropped uint64 `json:"dropped"`
	Gaps    []gap  `json:"gaps,omitempty"`
}

// gap is a run of N numbers that were skipped before the row At.
type gap struct {
	At uint64 `json:"at"`
	N  uint64 `json:"n"`
}

// skipped is how many numbers a queue passes over when a snapshot is restored: more than it can have given out since
// that snapshot, so that no receiver mistakes a new row for one it has seen.
const skipped = 1 << 24

func sequenceKey(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }

func newHead(b *bbolt.Bucket, seed uint32) (*head, error) {
	b.FillPercent = 0.95 // rows are only appended; splitting pages in the middle would waste half of each
	h := &head{bucket: b, seed: seed, first: firstFrom(b, 1)}
	raw := b.Get(stateKey)
	if raw == nil {
		return h, nil
	}
	return h, decode(seed, stateKey, raw, &h.state)
}

// firstFrom is the number of the first row that is not below seq, 0 if there is none.
func firstFrom(b *bbolt.Bucket, seq uint64) uint64 {
	if k, _ := b.Cursor().Seek(sequenceKey(seq)); k != nil {
		return binary.BigEndian.Uint64(k)
	}
	return 0
}

// length counts rows by arithmetic: they are contiguous but for the gaps.
func (h *head) length() int {
	if h.first == 0 {
		return 0
	}
	n := h.bucket.Sequence() - h.first + 1
	for _, g := range h.gaps() {
		n -= min(n, g.N)
	}
	return int(min(n, math.MaxInt))
}

// gaps are those that still lie behind the oldest row.
func (h *head) gaps() []gap {
	var behind []gap
	for _, g := range h.state.Gaps {
		if g.At > h.first {
			behind = append(behind, g)
		}
	}
	return behind
}

func (h *head) push(tx *Tx, seq uint64, key, raw []byte) error {
	if err := h.setSequence(tx, seq); err != nil {
		return err
	}
	if h.first == 0 {
		h.first = seq
	}
	return tx.replace(h.bucket, key, nil, raw)
}

func (h *head) setSequence(tx *Tx, seq uint64) error {
	if h.saved != tx {
		tx.undo = append(tx.undo, change{bucket: h.bucket, seq: h.bucket.Sequence()})
		h.saved = tx
	}
	tx.inside = true
	err := h.bucket.SetSequence(seq)
	tx.inside = false
	return err
}

// removeFirst deletes the oldest row and finds the next, or only finds it if a row that should be there is not.
func (h *head) removeFirst(tx *Tx) (removed bool, err error) {
	key := sequenceKey(h.first)
	old := h.bucket.Get(key)
	if old == nil {
		h.first = firstFrom(h.bucket, h.first)
		return false, nil
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
		h.first = firstFrom(h.bucket, h.first+1)
	}
	return true, nil
}

func (h *head) dropOldest(tx *Tx) error {
	removed, err := h.removeFirst(tx)
	if removed {
		h.state.Dropped++
		h.dirty = true
	}
	return err
}

func (h *head) trim(tx *Tx, upTo uint64) (n int, err error) {
	for h.first != 0 && h.first <= upTo {
		removed, err := h.removeFirst(tx)
		if err != nil {
			return n, err
		}
		if removed {
			n++
		}
	}
	return n, nil
}

// flush writes the counters.
func (h *head) flush(tx *Tx) error {
	if !h.dirty {
		return nil
	}
	h.state.Gaps = h.gaps()
	raw, err := tx.enc.encode(h.seed, stateKey, h.state)
	if err != nil {
		return err
	}
	h.dirty = false
	return tx.put(h.bucket, stateKey, raw)
}

// skip moves the sequence to seq, past the numbers that may have been given out already.
func (h *head) skip(tx *Tx, seq uint64) error {
	if h.first > 0 {
		h.state.Gaps = append(h.gaps(), gap{At: seq + 1, N: seq - h.bucket.Sequence()})
		h.dirty = true
	}
	if err := h.setSequence(tx, seq); err != nil {
		return err
	}
	return h.flush(tx)
}
