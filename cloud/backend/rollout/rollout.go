// Package rollout brings a configuration or a release to a fleet, a few gateways first, then
// faster, and stops when too many do not take it. It is kept beside the ledger:
// a backend that was killed goes on where it was.
//
//	r, err := rollout.Open(rollout.Options{Store: ledger, Backend: b})
//	go r.Run(ctx)
//	go b.Consume(ctx, ledger, func(ctx context.Context, tx backend.Tx, m backend.Received) error {
//		return errors.Join(r.Take(tx, m), store(tx, m))
//	})
//	begun, err := r.Start(rollout.Order{Gateways: all, Config: c, Plan: rollout.Plan{Canary: 5, PerMinute: 50, TimeoutS: 600}})
//
// A gateway has taken a configuration when its receipt says done, and a release when it says
// that it runs it. One that is away finds the configuration at the broker when it comes back;
// it is the only one that the broker keeps for it, so what an earlier one brought and the
// gateway has not heard is lost.
package rollout

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"roomgate/cloud"
	"roomgate/cloud/backend"
)

// Options are what rollouts stand on. Store and Backend are required.
type Options struct {
	Store   backend.Store
	Backend *backend.Backend
	Log     *slog.Logger // nil: slog.Default()
}

// Rollouts are those of a fleet. They may be used by many.
type Rollouts struct {
	o     Options
	hears time.Time // since when Run hears the gateways without a break, as far as it knows
}

// Open reads what is stored. Run goes on with it.
func Open(o Options) (*Rollouts, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return &Rollouts{o: o}, nil
}

// Order is a rollout that is wanted.
type Order struct {
	Name     string   `json:"name"`
	Gateways []string `json:"gateways"` // in the order in which they come
	// Config is what they get. Its Revision 0 stands for the one after that which each has.
	Config  backend.Configuration `json:"config"`
	Release string                `json:"release,omitempty"` // that they are to run then, as "1.10.0"
	Plan    Plan                  `json:"plan"`
}

// check refuses an order that nobody could follow.
func (o Order) check() error {
	if len(o.Gateways) == 0 {
		return errors.New("gateways is empty: name one at least")
	}
	for _, g := range o.Gateways {
		if !cloud.ValidGateway(g) {
			return fmt.Errorf("%q is no gateway's id", g)
		}
	}
	once := slices.Sorted(slices.Values(o.Gateways))
	for i := 1; i < len(once); i++ {
		if once[i] == once[i-1] {
			return fmt.Errorf("gateway %s is there twice: name it once", once[i])
		}
	}
	if o.Release != "" && (o.Config.Update == nil || o.Config.Update.URL == "") {
		return errors.New("config.update.url is missing: a release is fetched from there")
	}
	if len(o.Name) > 200 || len(o.Release) > 100 {
		return errors.New("name or release is too long: at most 200 and 100 bytes go")
	}
	return o.Plan.Check()
}

// ErrOrder is returned for an order that nobody could follow.
var ErrOrder = errors.New("the rollout cannot begin")

// ErrBusy says that a gateway is in another rollout that waits for it.
var ErrBusy = errors.New("the gateway is in another rollout")

// Start stores a rollout, which Run then goes through. A gateway of which another rollout
// waits for an answer is ErrBusy; one that was late there is this one's now.
func (r *Rollouts) Start(o Order) (Rollout, error) {
	if err := o.check(); err != nil {
		return Rollout{}, fmt.Errorf("%w: %w", ErrOrder, err)
	}
	h := Rollout{ID: ulid.Make().String(), Name: o.Name, Release: o.Release, Plan: o.Plan, Begun: time.Now().UTC(), State: Running, Counts: Counts{Waiting: len(o.Gateways)}}
	return h, r.o.Store.Write(context.Background(), func(tx backend.Tables) error {
		rows := rows{tx}
		if err := rows.forget(); err != nil {
			return err
		}
		for i, g := range o.Gateways {
			if err := rows.free(g); err != nil {
				return err
			}
			err := errors.Join(rows.put(steps, stepKey(h.ID, g), Step{Gateway: g, State: stepWaiting}),
				tx.Table(queue).Put(queueKey(h.ID, i), []byte(g)), tx.Table(active).Put([]byte(g), []byte(h.ID)))
			if err != nil {
				return err
			}
		}
		return errors.Join(rows.put(heads, h.ID, h), rows.put(contents, h.ID, o.Config))
	})
}

// free refuses a gateway that a rollout still waits for.
func (r rows) free(gateway string) error {
	id := string(r.tx.Table(active).Get([]byte(gateway)))
	if id == "" {
		return nil
	}
	var s Step
	h, err := r.head(id)
	if err == nil {
		err = r.get(steps, stepKey(id, gateway), &s)
	}
	if err == nil && !h.over() && s.State != stepLate {
		err = fmt.Errorf("%w: %s is in %s, which is %s", ErrBusy, gateway, id, h.State)
	}
	return err
}

// Take notes what a message says of the rollout that its gateway is in. The handler of
// Consume calls it with each message, in the transaction of the ledger.
func (r *Rollouts) Take(tx backend.Tx, m backend.Received) error {
	tables, ok := tx.(backend.Tables)
	if !ok {
		return errors.New("rollouts are kept beside the ledger: consume with a Store")
	}
	rows := rows{tables}
	id := string(tables.Table(active).Get([]byte(m.Gateway)))
	if id == "" {
		return nil
	}
	var s Step
	h, err := rows.head(id)
	if err == nil {
		err = rows.get(steps, stepKey(id, m.Gateway), &s)
	}
	if err != nil {
		return err
	}
	to, why := s.told(h.Release, m)
	if to == s.State || to == stepSending && h.State == Aborted {
		return nil
	}
	return errors.Join(rows.move(&h, s, to, why, time.Now().UTC()), rows.put(heads, h.ID, h))
}

// List are the rollouts, the oldest first.
func (r *Rollouts) List() (all []Rollout, err error) {
	err = r.o.Store.Read(context.Background(), func(tx backend.Tables) error { all, err = rows{tx}.all(); return err })
	return all, err
}

// Get is a rollout, and how each of its gateways stands, by their ids.
func (r *Rollouts) Get(id string) (h Rollout, all []Step, err error) {
	err = r.o.Store.Read(context.Background(), func(tx backend.Tables) error {
		rows := rows{tx}
		if h, err = rows.head(id); err != nil {
			return err
		}
		all, err = rows.steps(id)
		return err
	})
	return h, all, err
}

// Pause lets nobody else be sent the rollout until Resume.
func (r *Rollouts) Pause(id string) (Rollout, error) { return r.turn(id, Paused) }

// Resume goes on with a rollout that is paused or stopped; the failures that stopped it do
// not count again.
func (r *Rollouts) Resume(id string) (Rollout, error) { return r.turn(id, Running) }

// Abort ends a rollout. What was sent stays sent.
func (r *Rollouts) Abort(id string) (Rollout, error) { return r.turn(id, Aborted) }

func (r *Rollouts) turn(id, to string) (h Rollout, err error) {
	err = r.o.Store.Write(context.Background(), func(tx backend.Tables) error {
		rows := rows{tx}
		if h, err = rows.head(id); err == nil {
			err = h.turn(to)
		}
		if err != nil {
			return err
		}
		return rows.put(heads, id, h)
	})
	return h, err
}

// Run goes through the rollouts until ctx ends. Consume has to run too.
func (r *Rollouts) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := r.look(ctx); err != nil && ctx.Err() == nil {
			r.o.Log.Error("rollouts cannot go on, trying again", "reason", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
	return nil
}
