// Package agenttest starts a whole simulated building in one call: the real
// configuration, drivers, store and agent, on simulated chips.
package agenttest

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"roomgate/agent"
	"roomgate/agent/config"
	"roomgate/configs"
	"roomgate/drivers/all"
	"roomgate/drivers/sim"
	"roomgate/drivers/sim/plan"
	"roomgate/store"
)

// The two meeting spaces of the demo building, and its system key.
const (
	Aurora   = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01"
	Borealis = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a02"
	Key      = "agenttest-system-key"
)

// settleTime bounds how long a building may take until every device was
// observed.
const settleTime = 30 * time.Second

// Building is a running building.
type Building struct {
	*agent.Agent
	World *sim.World
	Dir   string // of the data
	stop  func()
}

// Options change what Start starts; the zero value is the demo building
// without a cloud.
type Options struct {
	Dir      string           // of the data; empty: a new one
	Settings []config.Setting // laid over the demo configuration
	Dial     agent.Dialer     // reaches the cloud; nil: the network
	Parts    []sim.Part       // further ones, in no meeting space
	Follow   bool             // the rooms follow their schedules; else they do as they are told only
}

// Start starts the building and ends it with the test, after which the
// database is verified. It returns once every device was observed.
func Start(t testing.TB, o Options) *Building {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	settings := append([]config.Setting{{Key: "clock.trust", Value: config.TrustAlways, Origin: "agenttest"}}, o.Settings...)
	c, err := config.Parse("demo.yaml", configs.Demo, all.All(), settings...)
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.Spaces {
		if !o.Follow {
			c.Spaces[i].Follow = config.Follow{}
		}
	}
	world, err := plan.Parse(configs.DemoWorld)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range o.Parts {
		if err := world.Add("elsewhere", "part", p); err != nil {
			t.Fatal(err)
		}
	}
	a, err := agent.Open(context.Background(), agent.Options{Config: c, Buses: world, DataDir: o.Dir,
		SystemKey: Key, Version: "test", Dial: o.Dial})
	if err != nil {
		t.Fatal(err)
	}
	b := &Building{Agent: a, World: world, Dir: o.Dir}
	b.run(t)
	b.settle(t)
	return b
}

func (b *Building) run(t testing.TB) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }()
	b.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the building ended with an error: %v", err)
		}
		if err := b.Close(); err != nil {
			t.Errorf("the building cannot be closed: %v", err)
		}
		b.World.Close()
		if err := store.Verify(filepath.Join(b.Dir, agent.Database)); err != nil {
			t.Errorf("the database after the test: %v", err)
		}
	})
	t.Cleanup(b.stop)
}

// settle waits until every device was observed.
func (b *Building) settle(t testing.TB) {
	t.Helper()
	deadline := time.Now().Add(settleTime)
	for b.Health.Ready() != nil {
		if time.Now().After(deadline) {
			t.Fatalf("the building is not ready after %v: %v", settleTime, b.Health.Ready())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Stop ends the building before the test does.
func (b *Building) Stop() { b.stop() }

// Await waits until check is true, looking again and again for at most 30 s.
func Await(t testing.TB, what string, check func() bool) {
	t.Helper()
	deadline := time.Now().Add(settleTime)
	for !check() {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not happen within %v", what, settleTime)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
