package store

import (
	"errors"

	"go.etcd.io/bbolt"

	"roomgate/store/layout"
	"roomgate/store/queue"
	"roomgate/store/sealed"
	"roomgate/store/undo"
)

// Tx is what a function given to View or Update reads and writes through. It ends when that function returns.
type Tx struct {
	db     *DB
	bolt   *bbolt.Tx
	enc    *sealed.Encoder        // nil in View
	heads  map[string]*queue.Head // of the queues used in this transaction, by name; nil in View
	writes undo.Writer            // not in View
	err    error                  // the first damaged row an iteration met
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
	return tx.writes.Bucket(name)
}

// finish ends a function that succeeded: the counters of the queues it used are written with its rows.
func (tx *Tx) finish() error {
	for _, h := range tx.heads {
		if err := h.Flush(&tx.writes); err != nil {
			return tx.noted(err)
		}
	}
	return nil
}

// rewind takes every write of this Tx back, last one first, and leaves those of its neighbours alone.
func (tx *Tx) rewind() error {
	if err := tx.writes.TakeBack(); err != nil {
		return err
	}
	clear(tx.heads) // they are read again when needed
	return nil
}
