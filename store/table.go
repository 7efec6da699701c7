package store

import (
	"bytes"
	"fmt"
	"iter"

	"go.etcd.io/bbolt"

	"roomgate/store/layout"
	"roomgate/store/pages"
	"roomgate/store/sealed"
)

// Table maps string keys of 1 to 1024 bytes, sorted bytewise, to values of T stored as JSON. It is only a name and
// a type: the rows are in the transaction it is used with.
type Table[T any] struct {
	name   string
	bucket []byte
	seed   uint32
}

// MaxValueSize bounds one stored value in bytes.
const MaxValueSize = pages.MaxValueSize

const maxKey = 1024

// NewTable names a table. Two tables of one name are the same rows.
func NewTable[T any](name string) Table[T] {
	bucket := layout.Table(name)
	return Table[T]{name: name, bucket: bucket, seed: pages.Seed(bucket)}
}

func (t Table[T]) wrap(key string, err error) error {
	return fmt.Errorf("table %q, key %q: %w", t.name, key, err)
}

// Get returns the value under key, ErrNotFound if there is none, or ErrDamaged.
func (t Table[T]) Get(tx *Tx, key string) (T, error) {
	v, err := get[T](tx, t.bucket, t.seed, []byte(key))
	if err != nil {
		return v, tx.noted(t.wrap(key, err))
	}
	return v, nil
}

// Put stores v under key. Storing what is there already writes nothing.
func (t Table[T]) Put(tx *Tx, key string, v T) error {
	if key == "" || len(key) > maxKey {
		return t.wrap(key, fmt.Errorf("key must have 1 to %d bytes", maxKey))
	}
	b, err := tx.writable(t.bucket)
	if err != nil {
		return t.wrap(key, err)
	}
	k := []byte(key)
	raw, err := tx.enc.Encode(t.seed, k, v)
	if err != nil {
		return t.wrap(key, err)
	}
	old, err := layout.Find(b, t.seed, k)
	if err != nil {
		return tx.noted(t.wrap(key, err))
	}
	if err := tx.writes.Change(b, k, old, raw); err != nil {
		return t.wrap(key, err)
	}
	return nil
}

// Delete removes the row under key; a missing one is no error.
func (t Table[T]) Delete(tx *Tx, key string) error {
	b, err := tx.present(t.bucket)
	if err != nil {
		return t.wrap(key, err)
	}
	if b == nil {
		return nil
	}
	k := []byte(key)
	old, err := layout.Find(b, t.seed, k)
	if err != nil {
		return tx.noted(t.wrap(key, err))
	}
	if old == nil {
		return nil
	}
	if err := tx.writes.Delete(b, k, old); err != nil {
		return t.wrap(key, err)
	}
	return nil
}

// All yields every row in the order of keys. A damaged row is left out, and tx.Err says so. The loop body may put
// and delete rows of the table.
func (t Table[T]) All(tx *Tx) iter.Seq2[string, T] { return t.From(tx, "") }

// From is All beginning with the first key that is not below start.
func (t Table[T]) From(tx *Tx, start string) iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		b, err := tx.bucket(t.bucket)
		if err != nil || b == nil {
			return
		}
		t.walk(tx, b, []byte(start), yield)
	}
}

func (t Table[T]) walk(tx *Tx, b *bbolt.Bucket, start []byte, yield func(string, T) bool) {
	c := b.Cursor()
	k, raw, err := layout.From(c, t.seed, start)
	if err != nil {
		tx.damaged(t.wrap(string(start), err))
	}
	for k != nil {
		var v T
		key, writes := string(k), tx.writes.Count()
		if err := sealed.Decode(t.seed, k, raw, &v); err != nil {
			tx.damaged(t.wrap(key, err))
		} else if !yield(key, v) || tx.bolt == nil {
			return
		}
		if tx.writes.Count() == writes {
			k, raw = c.Next()
		} else {
			k, raw = after(b, key)
		}
	}
}

// after returns the row behind key, for walks whose cursor a write has made invalid.
func after(b *bbolt.Bucket, key string) (k, value []byte) {
	c := b.Cursor()
	k, value = c.Seek([]byte(key))
	if bytes.Equal(k, []byte(key)) {
		return c.Next()
	}
	return k, value
}

// Len counts the rows by reading all keys.
func (t Table[T]) Len(tx *Tx) int {
	b, err := tx.bucket(t.bucket)
	if err != nil || b == nil {
		return 0
	}
	n := 0 // bbolt's own statistics leave out what this transaction has written
	c := b.Cursor()
	for k, _ := c.First(); k != nil; k, _ = c.Next() {
		n++
	}
	return n
}

// Bucket is what a repair calls the table, as "table:bookings".
func (t Table[T]) Bucket() string { return string(t.bucket) }
