package backendtest

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.etcd.io/bbolt"
	"go.uber.org/goleak"

	"roomgate/cloud"
	"roomgate/cloud/backend"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var stored = []byte("rows")

// inFile is a backend that stores rows in the file of its ledger.
func inFile(t *testing.T) Subject {
	path := filepath.Join(t.TempDir(), "backend.db")
	var mu sync.Mutex
	var open *backend.File // nil: it is killed
	start := func(url string) (func(), error) {
		f, err := backend.OpenFile(path)
		if err != nil {
			return nil, err
		}
		kill, err := consume(url, f, func(_ context.Context, tx backend.Tx, r backend.Received) error {
			if r.Level == cloud.LevelHeartbeat {
				return nil
			}
			rows, err := tx.(backend.FileTx).CreateBucketIfNotExists(stored)
			if err != nil {
				return err
			}
			n, _ := rows.NextSequence()
			return rows.Put([]byte{byte(n >> 8), byte(n)}, []byte(r.ID))
		})
		mu.Lock()
		open = f
		mu.Unlock()
		return func() {
			kill()
			mu.Lock()
			defer mu.Unlock()
			if open == f {
				open, _ = nil, f.Close()
			}
		}, err
	}
	return Subject{Start: start, Stored: func() (ids []string, err error) {
		mu.Lock()
		defer mu.Unlock()
		if open == nil {
			return nil, nil
		}
		return ids, open.DB().View(func(tx *bbolt.Tx) error {
			if b := tx.Bucket(stored); b != nil {
				return b.ForEach(func(_, id []byte) error { ids = append(ids, string(id)); return nil })
			}
			return nil
		})
	}}
}

// inMemory is one whose ledger forgets with each start what the rows do not.
func inMemory(*testing.T) Subject {
	var mu sync.Mutex
	var ids []string
	return Subject{
		Start: func(url string) (func(), error) {
			return consume(url, backend.NewMemory(), func(_ context.Context, _ backend.Tx, r backend.Received) error {
				if r.Level == cloud.LevelHeartbeat {
					return nil
				}
				mu.Lock()
				defer mu.Unlock()
				ids = append(ids, r.ID)
				return nil
			})
		},
		Stored: func() ([]string, error) {
			mu.Lock()
			defer mu.Unlock()
			return append([]string{}, ids...), nil
		},
	}
}

func consume(url string, l backend.Ledger, h backend.Handler) (kill func(), err error) {
	b, err := backend.Open(backend.Options{URL: url, ClientID: "backend", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { _ = b.Consume(ctx, l, h); close(ended) }()
	return func() { cancel(); <-ended }, nil
}

// The ledger in a file passes.
func TestFile(t *testing.T) { Run(t, inFile) }

// The kit finds what a ledger without a transaction does wrong, and only there.
func TestMemoryIsFound(t *testing.T) {
	for _, sc := range scenarios {
		if !strings.Contains(sc.name, "backend that is killed") {
			continue
		}
		if err := sc.run(t.Context(), inMemory(t)); err == nil || !strings.Contains(err.Error(), "more than once") {
			t.Errorf("%s: %v, want rows that are stored more than once", sc.name, err)
		}
	}
}
