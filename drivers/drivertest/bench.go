package drivertest

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/sim"
)

const (
	callTime = 30 * time.Second // what a call is given, as the building would
	patience = 2 * time.Minute  // how long a device may take to come back
)

// bench is a world with the case's parts, and the driver once it is open.
type bench struct {
	*testing.T
	c      Case
	world  *sim.World
	rig    Rig // the world, or the board before it
	driver drivers.Driver
	stop   func() // ends Watch and waits for it; never nil
}

func newBench(t *testing.T, c Case) *bench {
	b := &bench{T: t, c: c, world: sim.NewWorld(), stop: func() {}}
	t.Cleanup(func() {
		b.stop()
		if b.driver != nil {
			_ = b.driver.Close()
		}
		if b.rig != nil {
			b.rig.Close()
		}
		b.world.Close()
	})
	for _, p := range c.Parts() {
		if err := b.world.Add(space, c.Kind.Type, p); err != nil {
			t.Fatal(err)
		}
	}
	b.rig = b.world
	if b.real() {
		b.rig = c.Rig(t, b.world)
	}
	return b
}

func (b *bench) options() drivers.Options {
	if b.c.Options == nil {
		return b.c.Kind.Options()
	}
	return b.c.Options()
}

// open opens the driver without watching it.
func (b *bench) open() drivers.Driver {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), callTime)
	defer cancel()
	d, err := b.options().Open(ctx, b.rig)
	if err != nil {
		b.Fatalf("Open: %v", err)
	}
	b.driver = d
	return d
}

// start opens the driver, watches it if it wants to be watched, and waits
// until everything could be observed.
func (b *bench) start() []drivers.Status {
	b.Helper()
	b.open()
	b.watch(func(drivers.Event) {})
	return b.recovered()
}

// watch runs Watch again and again, as the building does, until stop.
func (b *bench) watch(report func(drivers.Event)) {
	w, ok := b.driver.(drivers.Watcher)
	if !ok {
		return
	}
	ctx, cancel := context.WithCancel(b.Context())
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			_ = w.Watch(ctx, report)
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	})
	b.stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
	})
}

func (b *bench) poll() ([]drivers.Status, error) {
	ctx, cancel := context.WithTimeout(b.Context(), callTime)
	defer cancel()
	return b.driver.Poll(ctx)
}

// recovered polls until everything is observed, and checks what it sees.
func (b *bench) recovered() []drivers.Status {
	b.Helper()
	var statuses []drivers.Status
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Second) {
		b.settle()
		statuses, err = b.poll()
		if failed(statuses, err) == nil {
			b.checkAll(statuses)
			return statuses
		}
	}
	b.Fatalf("after %s there is still an error: %v", patience, failed(statuses, err))
	return nil
}

// failed is the first error of a poll. What is not fitted has not failed.
func failed(statuses []drivers.Status, err error) error {
	if err != nil {
		return err
	}
	for _, s := range statuses {
		if s.Err != nil && !errors.Is(s.Err, drivers.ErrUnsupported) {
			return s.Err
		}
	}
	return nil
}

// do parses and carries out a command; value is JSON, or empty.
func (b *bench) do(sub, action, value string) (drivers.Command, drivers.Status, error) {
	b.Helper()
	a, _, ok := b.driver.Describe().Action(sub, action)
	if !ok {
		b.Fatalf("the description has no action %s %s", sub, action)
	}
	args, err := a.Parse([]byte(value))
	if err != nil {
		b.Fatalf("%s %s %s: %v", sub, action, value, err)
	}
	ctx, cancel := context.WithTimeout(b.Context(), callTime)
	defer cancel()
	c := drivers.Command{Sub: sub, Action: action, Args: args}
	s, err := b.driver.Do(ctx, c)
	return c, s, err
}

// control moves the whole device in the simulated world.
func (b *bench) control(args ...string) {
	b.Helper()
	b.move("", args...)
}

// move moves a sub-device in the simulated world, or the whole device.
func (b *bench) move(sub string, args ...string) {
	b.Helper()
	if _, err := b.world.Control(space, cmp.Or(sub, b.c.Kind.Type), args...); err != nil {
		b.Fatal(err)
	}
	if b.real() {
		time.Sleep(b.slack()) // until the board has it
	}
}

// take holds a line or channel as another driver would.
func (b *bench) take(line string) (release func() error, err error) {
	o, err := b.rig.Output(line, false)
	if err == nil {
		return o.Close, nil
	}
	if !errors.Is(err, drivers.ErrNoLine) {
		return nil, err
	}
	p, err := b.rig.PWM(line, pwmFrequency)
	if err != nil {
		return nil, err
	}
	return p.Close, nil
}
