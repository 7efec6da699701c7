package store

import (
	"bytes"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"roomgate/store/layout"
	"roomgate/store/sealed"
)

// Tx is what a function given to View or Update reads and writes through. It ends when that function returns.
type Tx struct {
	db     *DB
	bolt   *bbolt.Tx
	enc    *sealed.Encoder  // nil in View
	heads  map[string]*head // of the queues used in this transaction, by name; nil in View
	undo   []change
	err    error // the first damaged row an iteration met
	inside bool  // a bbolt write is under way; still set after a panic means that its memory cannot be trusted
	added  int   // bytes put
	freed  int   // bytes deleted
}

// change is how to take one write back.
type change struct {
	bucket *bbolt.Bucket // nil: the top-level bucket named key was created
	key    []byte        // nil: the bucket's sequence was seq
	old    []byte        // nil: there was no such key
	seq    uint64
}

// Err is the first damaged row that an iteration of this transaction met and skipped, nil if there was none.
// It wraps ErrDamaged and names the row.
func (tx *Tx) Err() error { return tx.err }

func (tx *Tx) damaged(err error) {
	tx.db.noteDamaged(err)
	if tx.err == nil {
		tx.err = err
	}
}

// noted counts err if it tells of a damaged row.
func (tx *Tx) noted(err error) error {
	if errors.Is(err, ErrDamaged) {
		tx.db.noteDamaged(err)
	}
	return err
}

// get reads one value; its errors do not name the row yet.
func get[T any](tx *Tx, bucket []byte, seed uint32, key []byte) (T, error) {
	var v, zero T
	b, err := tx.bucket(bucket)
	if err != nil {
		return v, err
	}
	if b == nil {
		return v, ErrNotFound
	}
	raw, err := layout.Find(b, seed, key)
	if err != nil {
		return v, err
	}
	if raw == nil {
		return v, ErrNotFound
	}
	if err := sealed.Decode(seed, key, raw, &v); err != nil {
		return zero, err
	}
	return v, nil
}

// bucket returns nil for a bucket that does not exist yet, which reads as empty.
func (tx *Tx) bucket(name []byte) (*bbolt.Bucket, error) {
	if tx.bolt == nil {
		return nil, ErrTxClosed
	}
	return tx.bolt.Bucket(name), nil
}

// present returns the bucket for writing, nil if it does not exist yet and there is nothing to change in it.
func (tx *Tx) present(name []byte) (*bbolt.Bucket, error) {
	if tx.bolt == nil {
		return nil, ErrTxClosed
	}
	if tx.enc == nil {
		return nil, ErrReadOnly
	}
	return tx.bolt.Bucket(name), nil
}

// writable is present that makes the bucket on first use.
func (tx *Tx) writable(name []byte) (*bbolt.Bucket, error) {
	b, err := tx.present(name)
	if b != nil || err != nil {
		return b, err
	}
	tx.inside = true
	b, err = tx.bolt.CreateBucket(name)
	tx.inside = false
	if err != nil {
		return nil, fmt.Errorf("create bucket: %w", err)
	}
	tx.undo = append(tx.undo, change{key: name})
	return b, nil
}

// change stores value unless it is there already, so that an unchanged row costs no write; old is what was there before, nil for a new
// key.
func (tx *Tx) change(b *bbolt.Bucket, key, old, value []byte) error {
	if bytes.Equal(old, value) {
		return nil
	}
	return tx.replace(b, key, old, value)
}

// replace stores value where the caller knows what was there before; old is nil for a new key.
func (tx *Tx) replace(b *bbolt.Bucket, key, old, value []byte) error {
	tx.inside = true
	err := b.Put(key, value)
	tx.inside = false
	if err != nil {
		return err
	}
	tx.undo = append(tx.undo, change{bucket: b, key: key, old: old})
	tx.added += len(value)
	if old == nil {
		tx.added += len(key)
	}
	tx.freed += len(old)
	return nil
}

// setSequence sets the last number that a bucket has given. saved is the function whose undo list has the one before.
func (tx *Tx) setSequence(b *bbolt.Bucket, saved **Tx, seq uint64) error {
	if *saved != tx {
		tx.undo = append(tx.undo, change{bucket: b, seq: b.Sequence()})
		*saved = tx
	}
	tx.inside = true
	err := b.SetSequence(seq)
	tx.inside = false
	return err
}

// remove deletes a key whose value the caller has just read.
func (tx *Tx) remove(b *bbolt.Bucket, key, old []byte) error {
	tx.inside = true
	err := b.Delete(key)
	tx.inside = false
	if err != nil {
		return err
	}
	tx.undo = append(tx.undo, change{bucket: b, key: key, old: old})
	tx.freed += len(key) + len(old)
	return nil
}

// finish ends a function that succeeded: the counters of the queues it used are written with its rows.
func (tx *Tx) finish() error {
	for _, h := range tx.heads {
		if err := h.flush(tx); err != nil {
			return err
		}
	}
	return nil
}

// rewind takes every write of this Tx back, last one first, and leaves those of its neighbours alone.
func (tx *Tx) rewind() error {
	tx.inside = true
	for i := len(tx.undo) - 1; i >= 0; i-- {
		if err := tx.takeBack(tx.undo[i]); err != nil {
			return fmt.Errorf("undo: %w", err)
		}
	}
	tx.inside = false
	tx.undo, tx.added, tx.freed = tx.undo[:0], 0, 0
	clear(tx.heads) // they are read again when needed
	return nil
}

func (tx *Tx) takeBack(c change) error {
	switch {
	case c.bucket == nil:
		return tx.bolt.DeleteBucket(c.key)
	case c.key == nil:
		return c.bucket.SetSequence(c.seq)
	case c.old == nil:
		return c.bucket.Delete(c.key)
	}
	return c.bucket.Put(c.key, c.old)
}
