package backend

import (
	"bytes"
	"context"
	"iter"

	"go.etcd.io/bbolt"
)

// Store is a Ledger that keeps what the reference backend knows, too. The transactions of
// its Update are Tables. One at a time changes something.
type Store interface {
	Ledger
	// Write is Update for who wants Tables.
	Write(ctx context.Context, f func(tx Tables) error) error
	// Read runs f in a transaction that changes nothing.
	Read(ctx context.Context, f func(tx Tables) error) error
}

// Tables is a transaction of a Store.
type Tables interface {
	Tx
	Table(name string) Table
}

// Table has values by their keys. A slice of it holds until the transaction ends, and is not
// written to. If it cannot be read the transaction fails, and a value is not there.
type Table interface {
	Get(key []byte) []byte // nil: there is none
	Put(key, value []byte) error
	Delete(key []byte) error
	// From are those from a key on, in the order of their keys; Down are all, the last first.
	// Nothing of the table is changed meanwhile.
	From(key []byte) iter.Seq2[[]byte, []byte]
	Down() iter.Seq2[[]byte, []byte]
	// NextSequence rises by one from transaction to transaction, from 1.
	NextSequence() (uint64, error)
}

// Write is Update for who wants Tables.
func (f *File) Write(_ context.Context, do func(tx Tables) error) error {
	return f.db.Update(func(tx *bbolt.Tx) error { return do(FileTx{tx}) })
}

// Read runs a transaction that changes nothing.
func (f *File) Read(_ context.Context, do func(tx Tables) error) error {
	return f.db.View(func(tx *bbolt.Tx) error { return do(FileTx{tx}) })
}

// Table is a bucket of the file, which is made with its first value.
func (tx FileTx) Table(name string) Table { return fileTable{tx.Tx, []byte(name)} }

type fileTable struct {
	tx   *bbolt.Tx
	name []byte
}

func (t fileTable) Get(key []byte) []byte {
	if b := t.tx.Bucket(t.name); b != nil {
		return b.Get(key)
	}
	return nil
}

func (t fileTable) Put(key, value []byte) error {
	b, err := t.tx.CreateBucketIfNotExists(t.name)
	if err != nil {
		return err
	}
	return b.Put(key, value)
}

func (t fileTable) Delete(key []byte) error {
	if b := t.tx.Bucket(t.name); b != nil {
		return b.Delete(key)
	}
	return nil
}

func (t fileTable) NextSequence() (uint64, error) {
	b, err := t.tx.CreateBucketIfNotExists(t.name)
	if err != nil {
		return 0, err
	}
	return b.NextSequence()
}

func (t fileTable) From(key []byte) iter.Seq2[[]byte, []byte] {
	return t.walk(func(c *bbolt.Cursor) ([]byte, []byte) { return c.Seek(key) }, (*bbolt.Cursor).Next)
}

func (t fileTable) Down() iter.Seq2[[]byte, []byte] {
	return t.walk((*bbolt.Cursor).Last, (*bbolt.Cursor).Prev)
}

func (t fileTable) walk(first, next func(*bbolt.Cursor) ([]byte, []byte)) iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) {
		b := t.tx.Bucket(t.name)
		if b == nil {
			return
		}
		c := b.Cursor()
		for k, v := first(c); k != nil && yield(k, v); k, v = next(c) {
		}
	}
}

// Within are the entries of a table whose keys begin with a prefix.
func Within(t Table, prefix []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) {
		for k, v := range t.From(prefix) {
			if !bytes.HasPrefix(k, prefix) || !yield(k, v) {
				return
			}
		}
	}
}
