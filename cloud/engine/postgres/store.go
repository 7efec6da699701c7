package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"

	"roomgate/cloud/backend"
)

// tables are those of a Store, beside that of the ledger. Of bytes the order is that of a file.
const tables = `CREATE TABLE IF NOT EXISTS roomgate_tables (name text, key bytea, value bytea NOT NULL, PRIMARY KEY (name, key));
	CREATE TABLE IF NOT EXISTS roomgate_sequences (name text PRIMARY KEY, last bigint NOT NULL)`

// The numbers of the locks of a Store: who writes, and who has the fleet.
const (
	writesLock = 7_666_427_001
	fleetLock  = 7_666_427_002
)

// Store is a backend.Store: the reference backend in a database.
type Store struct {
	Ledger
	holds *sql.Conn  // the lock of who has the fleet
	lost  chan error // when it is
	ended chan struct{}
	stop  context.CancelFunc
}

// ErrTaken says that another backend has the fleet of a database.
var ErrTaken = errors.New("another backend has the fleet in this database: end it first")

// OpenStore makes the tables if they are not there, and keeps others away until Close.
func OpenStore(ctx context.Context, db *sql.DB) (*Store, error) {
	ledger, err := Open(ctx, db)
	if err != nil {
		return nil, err
	}
	if _, err := db.ExecContext(ctx, tables); err != nil {
		return nil, fmt.Errorf("make the fleet's tables: %w", err)
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	var mine bool
	err = conn.QueryRowContext(ctx, `SELECT pg_try_advisory_lock($1)`, fleetLock).Scan(&mine)
	if err == nil && !mine {
		err = ErrTaken
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return hold(ledger, conn), nil
}

// Update is the ledger's, for one at a time, as in a file: what a transaction has read is so until
// it ends.
func (s *Store) Update(ctx context.Context, f func(tx backend.Tx) error) error {
	return s.Write(ctx, func(tx backend.Tables) error { return f(tx) })
}

// Write is Update for who wants Tables.
func (s *Store) Write(ctx context.Context, f func(tx backend.Tables) error) error {
	return s.do(ctx, &sql.TxOptions{}, func(tx *tablesTx) error {
		if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1)`, writesLock); err != nil {
			return err
		}
		return f(tx)
	})
}

// Read runs a transaction that sees one state, and changes nothing.
func (s *Store) Read(ctx context.Context, f func(tx backend.Tables) error) error {
	return s.do(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}, func(tx *tablesTx) error { return f(tx) })
}

func (s *Store) do(ctx context.Context, o *sql.TxOptions, f func(tx *tablesTx) error) error {
	tx, err := s.db.BeginTx(ctx, o)
	if err != nil {
		return err
	}
	t := &tablesTx{Tx: Tx{tx, ctx}}
	if err := errors.Join(f(t), t.failed); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// tablesTx is a transaction of a Store.
type tablesTx struct {
	Tx
	failed error // what could not be read: then nothing is committed
}

// Table is one of those in roomgate_tables.
func (tx *tablesTx) Table(name string) backend.Table { return named{tx, name} }

type named struct {
	tx   *tablesTx
	name string
}

func (t named) Get(key []byte) (value []byte) {
	err := t.tx.QueryRowContext(t.tx.ctx, `SELECT value FROM roomgate_tables WHERE name = $1 AND key = $2`, t.name, key).Scan(&value)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		t.tx.failed = errors.Join(t.tx.failed, err)
		return nil
	}
	return value
}

func (t named) Put(key, value []byte) error {
	if value == nil {
		value = []byte{}
	}
	_, err := t.tx.ExecContext(t.tx.ctx, `INSERT INTO roomgate_tables (name, key, value) VALUES ($1, $2, $3)
		ON CONFLICT (name, key) DO UPDATE SET value = EXCLUDED.value`, t.name, key, value)
	return err
}

func (t named) Delete(key []byte) error {
	_, err := t.tx.ExecContext(t.tx.ctx, `DELETE FROM roomgate_tables WHERE name = $1 AND key = $2`, t.name, key)
	return err
}

func (t named) NextSequence() (n uint64, err error) {
	err = t.tx.QueryRowContext(t.tx.ctx, `INSERT INTO roomgate_sequences AS s (name, last) VALUES ($1, 1)
		ON CONFLICT (name) DO UPDATE SET last = s.last + 1 RETURNING last`, t.name).Scan(&n)
	return n, err
}

// The order of what is read, from a key on.
const (
	fromFirst = `SELECT key, value FROM roomgate_tables WHERE name = $1 AND key >= $2 ORDER BY key LIMIT $3`
	fromNext  = `SELECT key, value FROM roomgate_tables WHERE name = $1 AND key > $2 ORDER BY key LIMIT $3`
	downFirst = `SELECT key, value FROM roomgate_tables WHERE name = $1 AND $2::bytea IS NOT NULL ORDER BY key DESC LIMIT $3`
	downNext  = `SELECT key, value FROM roomgate_tables WHERE name = $1 AND key < $2 ORDER BY key DESC LIMIT $3`
)

func (t named) From(key []byte) iter.Seq2[[]byte, []byte] {
	if key == nil {
		key = []byte{}
	}
	return t.walk(fromFirst, fromNext, key)
}

func (t named) Down() iter.Seq2[[]byte, []byte] { return t.walk(downFirst, downNext, []byte{}) }

// walk reads some at a time, more from time to time: the connection is free for other words meanwhile.
func (t named) walk(query, next string, key []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) {
		for some, at := 20, key; ; some = min(4*some, 1000) {
			keys, values, err := t.page(query, at, some)
			if err != nil {
				t.tx.failed = errors.Join(t.tx.failed, err)
				return
			}
			for i := range keys {
				if !yield(keys[i], values[i]) {
					return
				}
			}
			if len(keys) < some {
				return
			}
			at, query = keys[len(keys)-1], next
		}
	}
}

func (t named) page(query string, at []byte, some int) (keys, values [][]byte, err error) {
	found, err := t.tx.QueryContext(t.tx.ctx, query, t.name, at, some)
	if err != nil {
		return nil, nil, err
	}
	defer found.Close()
	for found.Next() {
		var k, v []byte
		if err := found.Scan(&k, &v); err != nil {
			return nil, nil, err
		}
		keys, values = append(keys, k), append(values, v)
	}
	return keys, values, found.Err()
}
