package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// The lock is looked after this often, and an answer may take this long.
const (
	lookEvery  = time.Second
	lookAnswer = 5 * time.Second
)

// ErrLost says that the fleet is no longer held: another backend may have it.
var ErrLost = errors.New("the database no longer holds the fleet for this backend, and another one may have it: start again")

// hold keeps a look at the connection that has the lock: the lock ends with it, as at a failover.
func hold(ledger *Ledger, conn *sql.Conn) *Store {
	ctx, stop := context.WithCancel(context.Background())
	s := &Store{Ledger: *ledger, holds: conn, lost: make(chan error, 1), ended: make(chan struct{}), stop: stop}
	go func() {
		defer close(s.ended)
		s.look(ctx)
	}()
	return s
}

// look asks the connection itself whether it has the lock, until it has not or ctx ends.
func (s *Store) look(ctx context.Context) {
	t := time.NewTicker(lookEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		if err := s.held(ctx); err != nil && ctx.Err() == nil {
			s.lost <- fmt.Errorf("%w (%w)", ErrLost, err)
			return
		}
	}
}

// held is an error if the lock is not held.
func (s *Store) held(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, lookAnswer)
	defer stop()
	var n int
	return s.holds.QueryRowContext(ctx, `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND granted
		AND (classid::bigint << 32 | objid::bigint) = $1`, fleetLock).Scan(&n)
}

// Hold waits until ctx ends, and returns ErrLost as soon as the fleet is lost: then nothing more may be
// written.
func (s *Store) Hold(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-s.lost:
		return err
	}
}

// Close lets another backend have the fleet. The database stays open.
func (s *Store) Close() error {
	s.stop()
	<-s.ended
	ctx, stop := context.WithTimeout(context.Background(), lookAnswer)
	defer stop()
	_, err := s.holds.ExecContext(ctx, `SELECT pg_advisory_unlock($1)`, fleetLock)
	return errors.Join(err, s.holds.Close())
}
