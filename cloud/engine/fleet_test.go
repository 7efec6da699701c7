package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"roomgate/cloud"
	"roomgate/cloud/backend"
	"roomgate/cloud/backend/backendtest"
	"roomgate/cloud/cell"
)

// each is how many gateways a cell has.
const each = 3

// fleet are gateways and backends at an engine, and what the backends have stored.
type fleet struct {
	t *testing.T
	engine
	logins    *cell.Logins
	passwords map[string]string
	gateways  []*backendtest.Gateway // by their places in logins
	ledger    *backend.File
	ends      []func() // of the backends, by cell
	mu        sync.Mutex
	backends  []*backend.Backend // by cell
	twice     atomic.Int64       // rows that came again
	beats     atomic.Int64       // heartbeats that came
	wire      *wire              // to the stream, of one that pulls
}

// newFleet is a fleet of so many cells at an engine, which open starts.
func newFleet(t *testing.T, cells int, open func(t *testing.T, f *fleet) engine) *fleet {
	t.Helper()
	f := &fleet{t: t, logins: &cell.Logins{Size: each}, passwords: map[string]string{}}
	for _, id := range members(cells, each) {
		made, err := f.logins.Admit(id)
		if err != nil {
			t.Fatal(err)
		}
		for user, password := range made {
			f.passwords[user] = password
		}
	}
	f.engine = open(t, f)
	var err error
	if f.ledger, err = backend.OpenFile(filepath.Join(t.TempDir(), "ledger.db")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.ledger.Close() })
	f.backends, f.ends = make([]*backend.Backend, cells), make([]func(), cells)
	for n := range cells {
		f.consume(n)
		t.Cleanup(func() { f.ends[n]() })
	}
	for i, l := range f.logins.Gateways {
		g := backendtest.Join(backendtest.At{URL: at(f.brokers(l.Cell-1, i)), ID: l.User, Password: f.password(l.User)})
		f.gateways = append(f.gateways, g)
		t.Cleanup(g.Close)
	}
	return f
}

func (f *fleet) password(user string) func() (string, error) {
	return func() (string, error) { return f.passwords[user], nil }
}

// consume starts the backend of a cell, and waits until it hears the gateways.
func (f *fleet) consume(n int) {
	f.t.Helper()
	if f.engine.pulls != nil {
		f.pulling(n)
	} else {
		f.hearing(n)
	}
	ready, cancel := context.WithTimeout(f.t.Context(), 30*time.Second)
	defer cancel()
	if err := f.backend(n).Settle(ready); err != nil {
		f.t.Fatalf("the backend of cell %d: %v", n+1, err)
	}
}

// hearing is a backend with a session.
func (f *fleet) hearing(n int) {
	f.t.Helper()
	user := cell.BackendUser(n + 1)
	b, err := backend.Open(backend.Options{URL: at(f.brokers(n, n)), ClientID: "backend", Username: user, Password: f.password(user), Log: quiet})
	if err != nil {
		f.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var loop sync.WaitGroup
	loop.Go(func() {
		if err := b.Consume(ctx, f.ledger, f.store); err != nil {
			f.t.Error(err)
		}
	})
	f.mu.Lock()
	f.backends[n], f.ends[n] = b, func() { stop(); loop.Wait() }
	f.mu.Unlock()
}

var stored = []byte("rows")

// store stores a row under its gateway and id.
func (f *fleet) store(_ context.Context, tx backend.Tx, r backend.Received) error {
	if !r.Row {
		if r.Level == cloud.LevelHeartbeat {
			f.beats.Add(1)
		}
		return nil
	}
	rows, err := tx.(backend.FileTx).CreateBucketIfNotExists(stored)
	if err != nil {
		return err
	}
	key := []byte(r.Gateway + "/" + r.ID)
	if rows.Get(key) != nil {
		f.twice.Add(1)
	}
	return rows.Put(key, []byte{1})
}

// load lets each gateway tell fifty things a second, and the backends command one of them
// now and then, until it is stopped.
func (f *fleet) load() (stop func() (done, unknown int64)) {
	ctx, cancel := context.WithCancel(f.t.Context())
	var loops sync.WaitGroup
	var done, unknown atomic.Int64
	for i, l := range f.logins.Gateways {
		loops.Go(func() {
			for every(ctx, 20*time.Millisecond) {
				f.gateways[i].Add(1)
			}
		})
		loops.Go(func() {
			for every(ctx, 500*time.Millisecond) {
				_, err := f.backend(l.Cell-1).Command(ctx, l.User, light)
				switch {
				case err == nil:
					done.Add(1)
				case errors.Is(err, backend.ErrNoReceipt):
					unknown.Add(1)
				case ctx.Err() == nil:
					f.t.Logf("command: %v", err)
				}
			}
		})
	}
	return func() (int64, int64) { cancel(); loops.Wait(); return done.Load(), unknown.Load() }
}

func (f *fleet) backend(n int) *backend.Backend {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.backends[n]
}

// light is a command that is not wanted for long.
var light = backend.Command{MeetingSpaceID: "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01", DeviceType: "light", Action: "on", TTL: 20}

// every waits, and says whether to go on.
func every(ctx context.Context, pause time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pause):
		return true
	}
}

// settle waits until each row of each gateway is stored and each gateway told so, and says
// which is not, or was stored again.
func (f *fleet) settle(patience time.Duration) {
	f.t.Helper()
	var missing string
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		if missing = f.missing(); missing == "" {
			break
		}
		if time.Now().After(end) {
			f.t.Fatalf("%v after the last row: %s", patience, missing)
		}
	}
	if n := f.twice.Load(); n > 0 {
		f.t.Errorf("%d rows are stored twice", n)
	}
}

func (f *fleet) missing() string {
	have := map[string]int{}
	err := f.ledger.DB().View(func(tx *bbolt.Tx) error {
		if b := tx.Bucket(stored); b != nil {
			return b.ForEach(func(key, _ []byte) error {
				gateway, _, _ := strings.Cut(string(key), "/")
				have[gateway]++
				return nil
			})
		}
		return nil
	})
	if err != nil {
		return err.Error()
	}
	var all []string
	for i, l := range f.logins.Gateways {
		if g := f.gateways[i]; have[l.User] != g.Rows() || !g.Forgotten() {
			all = append(all, fmt.Sprintf("%s: %d of %d rows are stored, told %v", l.User, have[l.User], g.Rows(), g.Forgotten()))
		}
	}
	return strings.Join(all, "; ")
}
