package queue

import (
	"cmp"
	"encoding/binary"
	"errors"
	"strings"

	"go.etcd.io/bbolt"

	"roomgate/store/layout"
	"roomgate/store/pages"
	"roomgate/store/sealed"
	"roomgate/store/undo"
)

// slot is one bucket of a tail. Its rows are contiguous.
type slot struct {
	name        []byte
	enc         *sealed.Encoder
	seed        uint32
	bucket      *bbolt.Bucket // nil: not made yet
	first, last uint64        // 0: empty
	counted     int           // what size returns; 0: not counted yet
	saved       *undo.Writer  // has noted the sequence before
	written     bool          // this transaction has put a row here
	page        bool          // it is to have a page of its own
}

func newSlot(tx *bbolt.Tx, name []byte, enc *sealed.Encoder) (slot, error) {
	s := slot{name: name, enc: enc, seed: pages.Seed(name), bucket: tx.Bucket(name)}
	if s.bucket == nil {
		return s, nil
	}
	var err error
	k, raw := layout.Last(s.bucket.Cursor())
	if s.last, _ = layout.Number(k); s.last > 0 {
		s.first, err = layout.FirstFrom(s.bucket, s.seed, 1)
	}
	return s, cmp.Or(err, layout.AtEnd(s.bucket, s.seed, nil, k, raw))
}

// rowSize is what a row takes of a page.
func rowSize(raw []byte) int { return elementHeader + 8 + len(raw) }

// size is what all rows take of a page.
func (s *slot) size() int {
	if s.counted > 0 || s.first == 0 {
		return s.counted
	}
	c := s.bucket.Cursor()
	for k, raw := c.Seek(layout.Key(s.first)); k != nil; k, raw = c.Next() {
		s.counted += rowSize(raw)
	}
	return s.counted
}

// put appends a row, which gets its seal here.
func (s *slot) put(w *undo.Writer, key, raw []byte) (err error) {
	if s.bucket == nil {
		if s.bucket, err = w.Bucket(s.name); err != nil {
			return err
		}
	}
	seq := binary.BigEndian.Uint64(key)
	if err := w.SetSequence(s.bucket, &s.saved, seq); err != nil {
		return err
	}
	s.counted = s.size() + rowSize(raw)
	if s.last, s.written = seq, true; s.first == 0 {
		s.first = seq
	}
	pages.Seal(s.seed, key, raw)
	return errors.Join(w.Put(s.bucket, key, nil, raw), s.fill(w, s.page && s.counted < tailLeast))
}

// fill keeps a page from the page of all buckets, where bbolt puts what is small, as long as its rows are few.
func (s *slot) fill(w *undo.Writer, few bool) error {
	is := s.bucket.Get(layout.StateKey)
	if few == (is != nil) {
		return nil
	}
	if !few {
		return w.Delete(s.bucket, layout.StateKey, is)
	}
	raw, err := s.enc.Encode(s.seed, layout.StateKey, layout.Filler{Filler: strings.Repeat(" ", tailLeast)})
	return errors.Join(err, w.Put(s.bucket, layout.StateKey, nil, raw))
}

// empty gives all rows to another bucket, oldest first, sealed for it.
func (s *slot) empty(w *undo.Writer, seed uint32, put func(key, raw []byte) error) error {
	for ; s.first != 0 && s.first <= s.last; s.first++ {
		key := layout.Key(s.first)
		raw, err := layout.Find(s.bucket, s.seed, key)
		if err != nil {
			return err
		}
		if raw == nil {
			continue
		}
		if err := put(key, layout.Resealed(s.seed, seed, key, raw)); err != nil {
			return err
		}
		if err := w.Delete(s.bucket, key, raw); err != nil {
			return err
		}
	}
	if s.first == 0 {
		return nil
	}
	s.first, s.last, s.counted = 0, 0, 0
	return s.fill(w, false)
}
