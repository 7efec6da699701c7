// Package postgres keeps the ledger of a backend in PostgreSQL, beside the rows that its
// handler stores. Any driver of database/sql will do:
//
//	db, err := sql.Open("pgx", "postgres://backend@db.example.org/fleet")
//	ledger, err := postgres.Open(ctx, db)
//	err = b.Consume(ctx, ledger, func(ctx context.Context, tx backend.Tx, r backend.Received) error {
//		_, err := tx.(postgres.Tx).ExecContext(ctx, "INSERT INTO events (id, data) VALUES ($1, $2)", r.ID, r.Data)
//		return err
//	})
//
// # Why
//
// Several backends may share one database. Who takes a row of a gateway locks that gateway's
// line, so two backends that hear the same row store it once.
package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"roomgate/cloud/backend"
)

// table is the ledger's own; all others are the handler's.
const table = `CREATE TABLE IF NOT EXISTS roomgate_ledger (gateway text PRIMARY KEY, progress bytea)`

// Ledger is a backend.Ledger in a database.
type Ledger struct{ db *sql.DB }

// Open makes the table if it is not there. It refuses a database that says that it has
// stored what it may lose.
func Open(ctx context.Context, db *sql.DB) (*Ledger, error) {
	var durable string
	if err := db.QueryRowContext(ctx, `SHOW synchronous_commit`).Scan(&durable); err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	if durable == "off" {
		return nil, errors.New("synchronous_commit is off in this database: a power cut would lose rows that gateways have forgotten")
	}
	if _, err := db.ExecContext(ctx, table); err != nil {
		return nil, fmt.Errorf("make the ledger's table: %w", err)
	}
	return &Ledger{db}, nil
}

// Tx is a transaction of a Ledger: a handler stores its rows in it.
type Tx struct {
	*sql.Tx
	ctx context.Context
}

// Update runs f in a transaction.
func (l *Ledger) Update(ctx context.Context, f func(tx backend.Tx) error) error {
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(Tx{tx, ctx}); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// Progress is what SetProgress was given. Until the transaction ends no other one gets it.
func (tx Tx) Progress(gateway string) (progress []byte, err error) {
	// The lock needs a line, also of a gateway that was never heard.
	_, err = tx.ExecContext(tx.ctx, `INSERT INTO roomgate_ledger (gateway) VALUES ($1) ON CONFLICT DO NOTHING`, gateway)
	if err == nil {
		err = tx.QueryRowContext(tx.ctx, `SELECT progress FROM roomgate_ledger WHERE gateway = $1 FOR UPDATE`, gateway).Scan(&progress)
	}
	return progress, err
}

// SetProgress keeps how far the rows of a gateway were taken.
func (tx Tx) SetProgress(gateway string, progress []byte) error {
	_, err := tx.ExecContext(tx.ctx, `INSERT INTO roomgate_ledger (gateway, progress) VALUES ($1, $2)
		ON CONFLICT (gateway) DO UPDATE SET progress = EXCLUDED.progress`, gateway, progress)
	return err
}
