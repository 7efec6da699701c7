// Package undo writes to a transaction of bbolt so that it can be taken back: several functions share one, and each that
// fails is undone alone. It knows buckets and keys, and no row.
package undo

import (
	"bytes"
	"fmt"

	"go.etcd.io/bbolt"
)

// Writer is what one function writes through.
type Writer struct {
	tx      *bbolt.Tx
	written Writes
	inside  bool // a bbolt write is under way; still set after a panic means that its memory cannot be trusted
	added   int  // bytes put
	freed   int  // bytes deleted
}

// Writes are what a Writer has written, in that order.
type Writes []write

// write is how to take one back.
type write struct {
	bucket *bbolt.Bucket // nil: the top-level bucket named key was created
	key    []byte        // nil: the bucket's sequence was seq
	old    []byte        // nil: there was no such key
	seq    uint64
}

// maxRoom is how many writes Writes have room for that are used again.
const maxRoom = 4096

// New returns a Writer to tx. room is what the End of an earlier one has returned, nil for the first.
func New(tx *bbolt.Tx, room Writes) Writer { return Writer{tx: tx, written: room} }

// End forgets what was written. It returns the room that the list took, for the next Writer.
func (w *Writer) End() Writes {
	all := w.written
	w.tx, w.written = nil, nil
	if cap(all) > maxRoom {
		return nil
	}
	clear(all)
	return all[:0]
}

// Count is how many writes there were.
func (w *Writer) Count() int { return len(w.written) }

// Grown is how many bytes were added, less those that were freed.
func (w *Writer) Grown() int { return w.added - w.freed }

// Broken says that bbolt panicked while it wrote: nothing can be taken back, and the transaction not be committed.
func (w *Writer) Broken() bool { return w.inside }

// Bucket returns a top-level bucket, which it makes on first use.
func (w *Writer) Bucket(name []byte) (*bbolt.Bucket, error) {
	if b := w.tx.Bucket(name); b != nil {
		return b, nil
	}
	w.inside = true
	b, err := w.tx.CreateBucket(name)
	w.inside = false
	if err != nil {
		return nil, fmt.Errorf("create bucket: %w", err)
	}
	w.written = append(w.written, write{key: name})
	return b, nil
}

// Change stores value unless it is there already, so that an unchanged row costs no write; old is what was there before, nil for a new
// key.
func (w *Writer) Change(b *bbolt.Bucket, key, old, value []byte) error {
	if bytes.Equal(old, value) {
		return nil
	}
	return w.Put(b, key, old, value)
}

// Put stores value where the caller knows what was there before; old is nil for a new key.
func (w *Writer) Put(b *bbolt.Bucket, key, old, value []byte) error {
	w.inside = true
	err := b.Put(key, value)
	w.inside = false
	if err != nil {
		return err
	}
	w.written = append(w.written, write{bucket: b, key: key, old: old})
	w.added += len(value)
	if old == nil {
		w.added += len(key)
	}
	w.freed += len(old)
	return nil
}

// SetSequence sets the last number that a bucket has given. saved is the Writer that has noted the one before.
func (w *Writer) SetSequence(b *bbolt.Bucket, saved **Writer, seq uint64) error {
	if *saved != w {
		w.written = append(w.written, write{bucket: b, seq: b.Sequence()})
		*saved = w
	}
	w.inside = true
	err := b.SetSequence(seq)
	w.inside = false
	return err
}

// Delete deletes a key whose value the caller has just read.
func (w *Writer) Delete(b *bbolt.Bucket, key, old []byte) error {
	w.inside = true
	err := b.Delete(key)
	w.inside = false
	if err != nil {
		return err
	}
	w.written = append(w.written, write{bucket: b, key: key, old: old})
	w.freed += len(key) + len(old)
	return nil
}

// TakeBack takes every write back, last one first, and leaves those of other Writers to the transaction alone.
func (w *Writer) TakeBack() error {
	w.inside = true
	for i := len(w.written) - 1; i >= 0; i-- {
		if err := w.takeBack(w.written[i]); err != nil {
			return fmt.Errorf("undo: %w", err)
		}
	}
	w.inside = false
	w.written, w.added, w.freed = w.written[:0], 0, 0
	return nil
}

func (w *Writer) takeBack(c write) error {
	switch {
	case c.bucket == nil:
		return w.tx.DeleteBucket(c.key)
	case c.key == nil:
		return c.bucket.SetSequence(c.seq)
	case c.old == nil:
		return c.bucket.Delete(c.key)
	}
	return c.bucket.Put(c.key, c.old)
}
