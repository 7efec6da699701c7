package backend

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/bbolt"
)

// Ledger keeps which rows of each gateway were taken. What a handler stores in the
// transaction is committed together with that: so each row is stored once, whenever a
// backend dies.
type Ledger interface {
	// Update runs f in one transaction, which is committed if f returns nil, and returns once
	// it is on disk.
	Update(ctx context.Context, f func(tx Tx) error) error
}

// Tx is a transaction of a Ledger.
type Tx interface {
	// Progress is what SetProgress was given for a gateway; nil: nothing yet.
	Progress(gateway string) ([]byte, error)
	SetProgress(gateway string, progress []byte) error
}

// Memory is a Ledger that keeps nothing over a restart: then rows that are not
// acknowledged yet come again.
type Memory struct {
	mu   sync.Mutex
	rows map[string][]byte
}

// NewMemory makes an empty one.
func NewMemory() *Memory { return &Memory{rows: map[string][]byte{}} }

// Update runs f, and keeps what it has set if it returns nil.
func (m *Memory) Update(_ context.Context, f func(tx Tx) error) error {
	tx := memoryTx{m, map[string][]byte{}}
	if err := f(tx); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for gateway, progress := range tx.set {
		m.rows[gateway] = progress
	}
	return nil
}

type memoryTx struct {
	m   *Memory
	set map[string][]byte
}

func (tx memoryTx) Progress(gateway string) ([]byte, error) {
	tx.m.mu.Lock()
	defer tx.m.mu.Unlock()
	return tx.m.rows[gateway], nil
}

func (tx memoryTx) SetProgress(gateway string, progress []byte) error {
	tx.set[gateway] = progress
	return nil
}

// File is a Ledger in a bbolt file, which has the rows of the handler too.
type File struct{ db *bbolt.DB }

// ledgerBucket is the File's own; all other buckets are the handler's.
var ledgerBucket = []byte("roomgate.ledger")

// OpenFile opens or makes the file. One process at a time can have it open.
func OpenFile(path string) (*File, error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: 5 * time.Second})
	if err != nil {
		return nil, fmt.Errorf("open ledger %s: %w", path, err)
	}
	err = db.Update(func(tx *bbolt.Tx) error { _, err := tx.CreateBucketIfNotExists(ledgerBucket); return err })
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &File{db}, nil
}

// DB is the file, for who reads what the handler has stored.
func (f *File) DB() *bbolt.DB { return f.db }

// Close closes the file.
func (f *File) Close() error { return f.db.Close() }

// Update runs f in a transaction of the file.
func (f *File) Update(_ context.Context, do func(tx Tx) error) error {
	return f.db.Update(func(tx *bbolt.Tx) error { return do(FileTx{tx}) })
}

// FileTx is a transaction of a File: a handler stores its rows in it.
type FileTx struct{ *bbolt.Tx }

// Progress is what SetProgress was given.
func (tx FileTx) Progress(gateway string) ([]byte, error) {
	return tx.Bucket(ledgerBucket).Get([]byte(gateway)), nil
}

// SetProgress keeps how far the rows of a gateway were taken.
func (tx FileTx) SetProgress(gateway string, progress []byte) error {
	return tx.Bucket(ledgerBucket).Put([]byte(gateway), progress)
}
