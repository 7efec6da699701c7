// Package fleet is the reference backend: what a cloud has to do, on the client of package
// backend. It keeps who is online with which release and configuration, the last rows
// of all gateways, and the rollouts, in one file that a restart finds again, and serves them
// over HTTP to whoever has its key.
package fleet

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"roomgate/cloud"
	"roomgate/cloud/authority"
	"roomgate/cloud/backend"
	"roomgate/cloud/backend/rollout"
)

// Options say where the gateways are and where the backend keeps what it knows. Path or
// Store, Key and the URL and ClientID of Broker are required.
type Options struct {
	Path   string          // of the file, as one process has it open; unused with a Store
	Store  backend.Store   // where the fleet is kept; nil: in the file
	Key    string          // who has it may see and do everything
	Broker backend.Options // at which the gateways are
	// Admit makes the login of a gateway that is claimed without one, before the claim is sent; nil: it keeps its own. One that has
	// taken a claim is not admitted again.
	Admit func(gateway string) (username, password string, err error)
	// Admitted says whether a gateway has a login of Admit still: one that has none is admitted again; nil: the claims say.
	Admitted func(gateway string) (bool, error)
	// Rows is how many rows of all gateways together are kept for who wants to look; 0: 10,000.
	Rows int
	Log  *slog.Logger // nil: slog.Default()
	// Authority certifies the gateways that are claimed here; nil: nobody does.
	Authority *authority.Authority
}

// Fleet is a running backend.
type Fleet struct {
	*rollout.Rollouts
	o       Options
	store   backend.Store
	close   func() error
	backend *backend.Backend
	wake    chan struct{} // holds a token when a schedule is new
	asks    chan wanted
	brought sync.Map      // by gateway: *brought of its last claim
	warn    *rate.Limiter // of requests for a certificate that have no answer
}

// The tables beside the ledger and the rollouts.
const (
	gateways = "roomgate.fleet" // by id: backend.Gateway
	rows     = "roomgate.rows"  // by number: Row
)

// Open opens the file, if the fleet is kept in one. Run connects.
func Open(o Options) (f *Fleet, err error) {
	if o.Key == "" {
		return nil, errors.New("the fleet has no key: make one")
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	o.Rows, o.Broker.Log = cmp.Or(o.Rows, 10_000), o.Log
	f = &Fleet{o: o, close: func() error { return nil }, wake: make(chan struct{}, 1), asks: make(chan wanted, mostAsks), warn: newWarn()}
	if f.backend, err = backend.Open(o.Broker); err != nil {
		return nil, err
	}
	if f.store = o.Store; f.store == nil {
		file, err := backend.OpenFile(o.Path)
		if err != nil {
			return nil, err
		}
		f.store, f.close = file, file.Close
	}
	f.Rollouts, err = rollout.Open(rollout.Options{Store: f.store, Backend: f.backend, Log: o.Log})
	if err == nil {
		err = f.store.Read(context.Background(), f.load)
	}
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// load reads what the gateways have said.
func (f *Fleet) load(tx backend.Tables) error {
	for _, raw := range tx.Table(gateways).From(nil) {
		var g backend.Gateway
		if err := json.Unmarshal(raw, &g); err != nil {
			return err
		}
		f.backend.Know(g)
	}
	return nil
}

// Close closes the file, after Run.
func (f *Fleet) Close() error { return f.close() }

// Run takes what the gateways send and goes through the rollouts, until ctx ends.
func (f *Fleet) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	var loop sync.WaitGroup
	defer loop.Wait()
	defer stop()
	loop.Go(func() { _ = f.Rollouts.Run(ctx) })
	loop.Go(func() { f.bring(ctx) })
	loop.Go(func() { f.certify(ctx) })
	return f.backend.Consume(ctx, f.store, f.take)
}

// Row is a message of a gateway's log.
type Row struct {
	Number   uint64          `json:"number"` // rises from row to row of the backend
	Gateway  string          `json:"gateway_id"`
	Sequence uint64          `json:"sequence"` // rises from row to row of the gateway
	ID       string          `json:"id"`
	Type     string          `json:"type"`
	Time     time.Time       `json:"time"`
	Data     json.RawMessage `json:"data"`
}

// take stores what a message says.
func (f *Fleet) take(_ context.Context, tx backend.Tx, m backend.Received) error {
	tables := tx.(backend.Tables)
	if err := f.Take(tx, m); err != nil {
		return err
	}
	if m.Level == cloud.LevelEnrol {
		f.enrol(m)
		return nil
	}
	if m.Level == cloud.LevelReceipt {
		if err := errors.Join(claimed(tables.Table(claims), m), taken(tables.Table(schedules), m)); err != nil {
			return err
		}
	}
	if m.Type == cloud.TypeOf(cloud.LevelEvent)+".gatewayReleased" && !m.Contested {
		if err := freed(tables.Table(claims), m); err != nil {
			return err
		}
	}
	if level, _, _ := strings.Cut(m.Level, "/"); !slices.Contains([]string{cloud.LevelPresence, cloud.LevelHeartbeat, cloud.LevelState}, level) {
		if err := f.keep(tables.Table(rows), m); err != nil || !m.Contested {
			return err
		}
	}
	g := backend.Gateway{ID: m.Gateway}
	known := tables.Table(gateways)
	if raw := known.Get([]byte(m.Gateway)); raw != nil {
		if err := json.Unmarshal(raw, &g); err != nil {
			return err
		}
	}
	g.Hear(m)
	raw, err := json.Marshal(g)
	if err != nil {
		return err
	}
	return known.Put([]byte(m.Gateway), raw)
}

// keep stores a row, and forgets the oldest if there are too many.
func (f *Fleet) keep(b backend.Table, m backend.Received) error {
	number, err := b.NextSequence()
	if err != nil {
		return err
	}
	raw, err := json.Marshal(Row{number, m.Gateway, m.Sequence, m.ID, m.Type, m.Time, m.Data})
	if err != nil {
		return err
	}
	if most := uint64(f.o.Rows); number > most {
		err = b.Delete(numbered(number - most))
	}
	return errors.Join(err, b.Put(numbered(number), raw))
}

func numbered(number uint64) []byte { return binary.BigEndian.AppendUint64(nil, number) }

// mostRows is how many Rows returns at most.
const mostRows = 1000

// Rows are those after a number, the oldest first, at most 1,000 of those that are kept.
func (f *Fleet) Rows(after uint64) (all []Row, err error) {
	all = []Row{}
	err = f.store.Read(context.Background(), func(tx backend.Tables) error {
		for _, raw := range tx.Table(rows).From(numbered(after + 1)) {
			if len(all) == mostRows {
				break
			}
			var r Row
			if err := json.Unmarshal(raw, &r); err != nil {
				return err
			}
			all = append(all, r)
		}
		return nil
	})
	return all, err
}

// Newest are the last rows, the oldest first.
func (f *Fleet) Newest(n int) (all []Row, err error) {
	all = []Row{}
	err = f.store.Read(context.Background(), func(tx backend.Tables) error {
		for _, raw := range tx.Table(rows).Down() {
			if len(all) == n {
				break
			}
			var r Row
			if err := json.Unmarshal(raw, &r); err != nil {
				return err
			}
			all = append(all, r)
		}
		return nil
	})
	slices.Reverse(all)
	return all, err
}

// Gateway is one as the fleet shows it.
type Gateway struct {
	backend.Gateway
	Unlocked bool      `json:"unlocked"`         // a lock is not known to be closed
	Revoked  time.Time `json:"revoked,omitzero"` // when its certificates were taken back; absent: they were not
}

// Gateways are all that were ever heard, by their ids.
func (f *Fleet) Gateways() []Gateway { return f.shown(f.backend.Fleet(nil)) }

func (f *Fleet) shown(gateways []backend.Gateway) []Gateway {
	all, revoked := []Gateway{}, f.revoked()
	for _, g := range gateways {
		all = append(all, Gateway{g, g.Unlocked(), revoked[g.ID]})
	}
	return all
}

// everybody are the gateways for a rollout that names none: those that are online first.
func (f *Fleet) everybody() (ids []string) {
	all := f.backend.Fleet(nil)
	slices.SortStableFunc(all, func(x, y backend.Gateway) int {
		if x.Online == y.Online {
			return 0
		} else if x.Online {
			return -1
		}
		return 1
	})
	for _, g := range all {
		ids = append(ids, g.ID)
	}
	return ids
}
