package rollout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"roomgate/cloud/backend"
	"roomgate/cloud/backend/backendtest"
	"roomgate/cloud/broker"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fleet is a broker, gateways that somebody plays, and a backend that may be killed.
type fleet struct {
	t        *testing.T
	broker   *broker.Broker
	conns    sync.WaitGroup
	path     string
	gateways map[string]*backendtest.Gateway

	mu   sync.Mutex
	took map[string][]string // ids of the configurations that came, by gateway

	*Rollouts
	kill func()
}

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// newFleet has a backend and as many gateways, which take what comes.
func newFleet(t *testing.T, gateways int) *fleet {
	f := &fleet{t: t, broker: newBroker(t), path: filepath.Join(t.TempDir(), "backend.db"), gateways: map[string]*backendtest.Gateway{}, took: map[string][]string{}}
	t.Cleanup(func() {
		f.kill()
		for _, g := range f.gateways {
			g.Close()
		}
		_ = f.broker.Close()
		f.conns.Wait()
	})
	f.start()
	for i := range gateways {
		id := fmt.Sprintf("g%02d", i+1)
		f.gateways[id] = backendtest.Join(backendtest.At{URL: "mqtt://broker", ID: id, Dial: f.dial})
		f.answer(id, "done")
	}
	time.Sleep(5 * time.Second)
	return f
}

func newBroker(t *testing.T) *broker.Broker {
	b, err := broker.Open(broker.Options{AllowAnonymousLoopback: true, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// forget starts the broker again without what it kept.
func (f *fleet) forget() {
	f.mu.Lock()
	old := f.broker
	f.broker = newBroker(f.t)
	f.mu.Unlock()
	_ = old.Close()
}

func (f *fleet) dial(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	f.mu.Lock()
	defer f.mu.Unlock()
	b := f.broker
	f.conns.Go(func() { _ = b.Serve(far) })
	return near, nil
}

// answer lets a gateway answer what comes from now on.
func (f *fleet) answer(id, state string) {
	f.gateways[id].Answers(func(message string, _ json.RawMessage) string {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.took[id] = append(f.took[id], message)
		return state
	})
}

// came is how many configurations have come to gateways.
func (f *fleet) came() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, all := range f.took {
		n += len(all)
	}
	return n
}

// start starts the backend upon what it has stored.
func (f *fleet) start() {
	file, err := backend.OpenFile(f.path)
	if err != nil {
		f.t.Fatal(err)
	}
	file.DB().NoSync = true // there are heartbeats of an hour
	b, err := backend.Open(backend.Options{URL: "mqtt://broker", ClientID: "backend", Dial: f.dial, Log: quiet})
	if err != nil {
		f.t.Fatal(err)
	}
	if f.Rollouts, err = Open(Options{Store: file, Backend: b, Log: quiet}); err != nil {
		f.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var loops sync.WaitGroup
	rollouts := f.Rollouts
	loops.Go(func() {
		_ = b.Consume(ctx, file, func(_ context.Context, tx backend.Tx, m backend.Received) error { return rollouts.Take(tx, m) })
	})
	loops.Go(func() { _ = rollouts.Run(ctx) })
	f.kill = func() {
		cancel()
		loops.Wait()
		_ = file.Close()
	}
}

// order is for all gateways, in their order.
func (f *fleet) order(p Plan) Order {
	o := Order{Name: "test", Plan: p, Config: backend.Configuration{Users: []json.RawMessage{}}}
	for i := range len(f.gateways) {
		o.Gateways = append(o.Gateways, fmt.Sprintf("g%02d", i+1))
	}
	return o
}

func (f *fleet) begin(o Order) string {
	f.t.Helper()
	h, err := f.Start(o)
	if err != nil {
		f.t.Fatal(err)
	}
	return h.ID
}

// stands wants a rollout to stand so.
func (f *fleet) stands(id, state string, want Counts) []Step {
	f.t.Helper()
	h, steps, err := f.Get(id)
	if err != nil || h.State != state || h.Counts != want {
		f.t.Fatalf("%v: it is %s (%s) with %+v: want %s with %+v", errors.Join(err), h.State, h.Why, h.Counts, state, want)
	}
	return steps
}

// unsend makes a step what it is while nobody knows whether it went. The backend is away.
func (f *fleet) unsend(id, gateway string) {
	file, err := backend.OpenFile(f.path)
	if err != nil {
		f.t.Fatal(err)
	}
	err = file.Write(f.t.Context(), func(tx backend.Tables) error {
		var s Step
		rows := rows{tx}
		err := rows.get(steps, stepKey(id, gateway), &s)
		s.State = stepSending
		return errors.Join(err, rows.put(steps, stepKey(id, gateway), s), tx.Table(unsent).Put([]byte(stepKey(id, gateway)), nil))
	})
	if err = errors.Join(err, file.Close()); err != nil {
		f.t.Fatal(err)
	}
}
