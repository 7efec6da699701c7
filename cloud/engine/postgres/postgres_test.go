package postgres

import (
	"context"
	"database/sql"
	"log/slog"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"roomgate/cloud/backend"
	"roomgate/cloud/backend/backendtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// store stores the id of a row, as often as it is told.
func store(ctx context.Context, tx backend.Tx, r backend.Received) error {
	if !r.Row {
		return nil
	}
	_, err := tx.(Tx).ExecContext(ctx, "INSERT INTO rows (id) VALUES ($1)", r.ID)
	return err
}

// consume runs a backend upon a database until kill.
func consume(t *testing.T, db *sql.DB, url, clientID string) (kill func(), err error) {
	ledger, err := Open(t.Context(), db)
	if err != nil {
		return nil, err
	}
	b, err := backend.Open(backend.Options{URL: url, ClientID: clientID, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	var loop sync.WaitGroup
	loop.Go(func() { _ = b.Consume(ctx, ledger, store) })
	return func() { stop(); loop.Wait() }, nil
}

func stored(db *sql.DB) (ids []string, err error) {
	rows, err := db.Query("SELECT id FROM rows")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// The ledger passes all that the kit of a backend plays.
func TestLedger(t *testing.T) {
	s := newServer(t)
	var mu sync.Mutex // scenarios begin at the same time
	backendtest.Run(t, func(t *testing.T) backendtest.Subject {
		mu.Lock()
		defer mu.Unlock()
		db := s.database()
		return backendtest.Subject{
			Start:  func(url string) (func(), error) { return consume(t, db, url, "backend") },
			Stored: func() ([]string, error) { return stored(db) },
		}
	})
}

// Two backends hear everything, and the database dies meanwhile: each row is stored once.
func TestTwoBackendsAndACrash(t *testing.T) {
	s := newServer(t)
	db := s.database()
	g, err := backendtest.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for _, id := range []string{"first", "second"} {
		kill, err := consume(t, db, g.URL(), id)
		if err != nil {
			t.Fatal(err)
		}
		defer kill()
	}
	const rows = 600
	for i := range rows {
		g.Add(1)
		if i == rows/2 {
			s.end(syscall.SIGQUIT)
			s.start()
		}
		time.Sleep(time.Millisecond)
	}
	var ids []string
	for end := time.Now().Add(90 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if ids, err = stored(db); err == nil && len(ids) >= rows && g.Forgotten() {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d of %d rows are stored, %v", len(ids), rows, err)
		}
	}
	slices.Sort(ids)
	if !slices.Equal(ids, g.IDs()) {
		t.Errorf("%d rows are stored, %d of them different: want %d", len(ids), len(slices.Compact(ids)), rows)
	}
}

// A database that may forget what it has confirmed is no ledger.
func TestForgetfulDatabase(t *testing.T) {
	s := newServer(t)
	db := s.database()
	if _, err := db.Exec("ALTER DATABASE backend1 SET synchronous_commit = off"); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), s.open("backend1")); err == nil {
		t.Error("it was opened")
	}
}
