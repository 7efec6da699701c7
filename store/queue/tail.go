package queue

import (
	"cmp"
	"errors"
	"slices"

	"go.etcd.io/bbolt"

	"roomgate/store/layout"
	"roomgate/store/pages"
	"roomgate/store/sealed"
	"roomgate/store/undo"
)

// A row at the end of a long queue costs the card every page on the way to it, three of 4 KiB with 100,000 rows. So the
// youngest rows of a Tailed queue are in buckets of their own. The first few are in a bucket so small that bbolt has it
// in the page of all buckets, which each change writes. From there they go together into a bucket of one page, then
// into the next such, and once all are full, to the other rows of the queue.
//
// A program that does not know the tail sees a queue that has skipped some numbers: as long as the tail has rows, its
// queue has an older one, and counts tailReserve numbers more as given, so that none is given twice. Close leaves no row
// in a tail. What such a program did not see after a power cut comes back when this one opens the database again.
const (
	// tailPage bounds the bytes of a bucket of one page: what fits into a page of bbolt.
	tailPage = pages.PageSize - pageHeader
	// tailYoung bounds the bytes of the bucket in the page of all buckets: at most a quarter of a page, and less, as what
	// is in that page has to fit into it.
	tailYoung = 448
	// tailLeast is how many bytes bbolt does not put into the page of all buckets.
	tailLeast = pages.PageSize / 4
	// tailSpare is how many bytes have to be left beside the first row of a transaction for those that may follow, so
	// that one does not write two pages.
	tailSpare = 1024
	// tailRow is the largest row, in bytes, that goes by the tail.
	tailRow = pages.PageSize / 2
	// tailRows is how many rows a tail has at most. The chain of the log reckons with less than 250.
	tailRows = 240
	// tailReserve is more than that.
	tailReserve = 256

	pageHeader, elementHeader = 16, 16 // of bbolt
)

// tail is what a transaction knows of the youngest rows of a queue. They are contiguous, and end with its last.
type tail struct {
	slots       []slot // oldest rows first; the last is for those in the page of all buckets
	filling     int    // the slot of one page that has the youngest rows of such
	first, last uint64 // 0: empty
	reserved    bool   // the queue counts numbers as given that the tail gives
	moved       bool   // in this transaction already
	direct      bool   // this transaction writes rows where they stay
}

// newTail reads the tail of a queue whose own last row is that of key last. It is as none if the queue went on without it, as one
// has that is empty: no tail has rows then.
func newTail(tx *bbolt.Tx, o Options, last []byte) (t *tail, err error) {
	t = &tail{filling: 1} // the first slot is of an earlier version
	names := layout.TailsOf(o.Bucket)
	for i, name := range names {
		s, wrong := newSlot(tx, name, o.Encoder)
		err = cmp.Or(err, wrong)
		s.page = i < len(names)-1
		t.slots = append(t.slots, s)
		if s.first == 0 {
			continue
		}
		if t.first == 0 {
			t.first = s.first
		}
		if t.last, t.reserved = s.last, true; i > 0 && s.page {
			t.filling = i
		}
	}
	if n, _ := layout.Number(last); t.first > 0 && (n == 0 || n >= t.first) {
		return nil, err
	}
	return t, err
}

// Part is a bucket with rows of a queue.
type Part struct {
	Bucket *bbolt.Bucket
	Seed   uint32
}

// Tail returns the buckets with the youngest rows of a queue that is Tailed, oldest rows first; main has the others.
func Tail(tx *bbolt.Tx, main *bbolt.Bucket, o Options) (all []Part, err error) {
	last, _ := layout.Last(main.Cursor())
	t, err := newTail(tx, o, last)
	if t.rows() == 0 {
		return nil, err
	}
	for _, s := range t.slots {
		if s.first != 0 {
			all = append(all, Part{s.bucket, s.seed})
		}
	}
	return all, err
}

// rows is how many there are; also of a queue without a tail.
func (t *tail) rows() uint64 {
	if t == nil || t.first == 0 {
		return 0
	}
	return t.last - t.first + 1
}

// push takes a row; taken is false if it is to go where it stays.
func (t *tail) push(w *undo.Writer, h *Head, seq uint64, key, raw []byte) (taken bool, err error) {
	t.direct = t.direct || rowSize(raw) > tailRow
	if t.direct || h.first == 0 {
		return false, t.moveAll(w, h)
	}
	s, err := t.place(w, h, rowSize(raw))
	if err != nil {
		return false, err
	}
	if s == nil {
		t.direct = true
		return false, t.moveAll(w, h)
	}
	if t.first == 0 {
		t.first = seq
	}
	t.last = seq
	return true, errors.Join(t.reserve(w, h, seq), s.put(w, key, raw))
}

// place is where a row of size bytes goes; nil: where it stays. A page that this transaction writes anyway takes all.
func (t *tail) place(w *undo.Writer, h *Head, size int) (*slot, error) {
	young, page := &t.slots[len(t.slots)-1], &t.slots[t.filling]
	switch {
	case page.written && young.first == 0 && page.size()+size <= tailPage && t.rows() < tailRows:
		return page, nil
	case young.size()+size <= tailYoung && t.rows() < tailRows:
		return young, nil
	}
	page, err := t.pageFor(w, h, young.size()+size)
	if page != nil && err == nil {
		err = young.empty(w, page.seed, func(key, raw []byte) error { return page.put(w, key, raw) })
	}
	return page, err
}

// pageFor finds a page for size bytes. If there is none, all pages give their rows to the queue, once in a transaction; nil:
// they have in this one.
func (t *tail) pageFor(w *undo.Writer, h *Head, size int) (*slot, error) {
	page, last, spare := &t.slots[t.filling], len(t.slots)-2, tailSpare
	if page.written {
		spare = 0
	}
	switch {
	case t.rows() >= tailRows:
	case page.size()+size+spare <= tailPage:
		return page, nil
	case t.filling < last:
		t.filling++
		return &t.slots[t.filling], nil
	}
	if t.moved {
		return nil, nil
	}
	t.moved = true
	if err := t.move(w, h, t.slots[:last+1]); err != nil {
		return nil, err
	}
	return &t.slots[t.filling], nil
}

// move gives the rows of slots to the queue.
func (t *tail) move(w *undo.Writer, h *Head, slots []slot) error {
	for i := range slots {
		if h.first == 0 {
			h.first = slots[i].first
		}
		err := slots[i].empty(w, h.seed, func(key, raw []byte) error { return w.Put(h.bucket, key, nil, raw) })
		if err != nil {
			return err
		}
	}
	t.filling = 1
	if t.first = t.slots[len(t.slots)-1].first; t.first == 0 {
		t.last = 0
	}
	return nil
}

// reserve sees to it that the queue counts the numbers of the next rows as given. The note of that is with the oldest
// rows, far from the others, so it is for many rows.
func (t *tail) reserve(w *undo.Writer, h *Head, seq uint64) error {
	n := len(h.state.Gaps)
	noted := n > 0 && h.state.Gaps[n-1].At == h.bucket.Sequence()+1
	if t.reserved && noted && h.bucket.Sequence() >= seq+tailReserve {
		return nil
	}
	t.release(h)
	t.reserved = true
	next := seq + 16*tailReserve
	h.state.Gaps = append(h.gaps(), layout.Gap{At: next + 1, N: next - seq + 1})
	h.dirty = true
	return h.SetSequence(w, next)
}

// moveAll moves all rows.
func (t *tail) moveAll(w *undo.Writer, h *Head) error {
	if t.rows() == 0 {
		return nil
	}
	last := t.last
	if err := t.move(w, h, t.slots); err != nil {
		return err
	}
	t.release(h)
	t.reserved = false
	h.dirty = true
	return h.SetSequence(w, last)
}

// release takes back the numbers that are kept for the rows of the tail.
func (t *tail) release(h *Head) {
	if n := len(h.state.Gaps); t.reserved && n > 0 && h.state.Gaps[n-1].At == h.bucket.Sequence()+1 {
		h.state.Gaps = h.state.Gaps[:n-1]
	}
}

// EmptyTails leaves no row in any tail, as a program that does not know them wants it. Where one has gone on without
// them, the rows get their places between its own; left: only there.
func EmptyTails(tx *bbolt.Tx, w *undo.Writer, enc *sealed.Encoder, left bool) error {
	var queues []string
	err := tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
		if layout.IsTail(string(name)) && layout.First(b, 1) != 0 {
			queues = append(queues, layout.QueueOf(string(name)))
		}
		return nil
	})
	slices.Sort(queues)
	for _, name := range slices.Compact(queues) {
		if err == nil {
			err = emptyTailOf(tx, w, Options{Bucket: []byte(name), Tailed: true, Encoder: enc}, left)
		}
	}
	return err
}

func emptyTailOf(tx *bbolt.Tx, w *undo.Writer, o Options, left bool) error {
	b, err := w.Bucket(o.Bucket)
	if err != nil {
		return err
	}
	h, err := Open(tx, b, o)
	if err != nil {
		return err
	}
	if h.tail != nil && left {
		return nil
	}
	if h.tail != nil {
		return errors.Join(h.tail.moveAll(w, h), h.Flush(w))
	}
	for _, tail := range layout.TailsOf(o.Bucket) {
		if err := foldTail(w, b, tail, tx.Bucket(tail)); err != nil {
			return err
		}
	}
	h.state.Gaps, err = layout.Gaps(b, b.Sequence())
	h.dirty = true
	return errors.Join(err, h.Flush(w))
}

// foldTail gives the rows of a bucket of a tail their places in a queue that went on without them.
func foldTail(w *undo.Writer, main *bbolt.Bucket, name []byte, rows *bbolt.Bucket) error {
	if rows == nil {
		return nil
	}
	for _, r := range layout.TailRows(name, main, rows) {
		if r.Missing {
			if err := w.Put(main, r.Key, nil, r.Value); err != nil {
				return err
			}
		}
		if err := w.Delete(rows, r.Key, r.Old); err != nil {
			return err
		}
	}
	return nil
}
