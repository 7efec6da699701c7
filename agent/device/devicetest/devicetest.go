// Package devicetest is hardware for tests of the building: a driver of the worst
// kind, which hangs, panics, lies or vanishes when the test says so. What a real
// driver makes of a real chip is tested below the bus, with drivers/sim.
package devicetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"roomgate/drivers"
)

// Script is the hardware of a scripted driver: a driver of the worst kind,
// which hangs, panics, lies or vanishes when the test says so.
type Script struct {
	// Release lets a call go that hangs, by a value or, for all, by closing it.
	Release chan struct{}

	mu     sync.Mutex
	value  map[string]string // by sub-device
	gone   map[string]error  // why a sub-device has no value
	fault  string            // "", "hang", "panic", "lie", "vanish", "ignore", "contrary"
	done   []string          // the commands that took effect
	late   time.Duration     // the evidence
	unseen error             // there is none
	opened int
	polled int
}

// New is hardware whose sub-devices have these values; of a device without, the
// empty one has.
func New(values map[string]string) *Script {
	return &Script{value: values, Release: make(chan struct{})}
}

// Set plays a fault from now on: hang, panic, lie, vanish, flaky, ignore or contrary;
// empty: none.
func (s *Script) Set(fault string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// Show has the hardware of a sub-device stand so.
func (s *Script) Show(sub, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.value[sub] = value
}

// Prove has the evidence of commands be this much later than they are, or wrong.
func (s *Script) Prove(late time.Duration, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late, s.unseen = late, why
}

// Lose has a sub-device say that it has no value; nil ends that.
func (s *Script) Lose(sub string, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = map[string]error{sub: why}
}

// Effects are the commands that took effect.
func (s *Script) Effects() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.done)
}

// suffer plays the fault.
func (s *Script) suffer() error {
	s.mu.Lock()
	fault := s.fault
	s.mu.Unlock()
	switch fault {
	case "hang":
		<-s.Release
	case "panic":
		panic("driver bug")
	case "vanish":
		return fmt.Errorf("wire cut: %w", drivers.ErrOffline)
	case "flaky":
		return errors.New("bad checksum")
	}
	return nil
}

// Bench holds the scripts of one building by device.
type Bench map[string]*Script

// NewBench has two lights, a door and a hub.
func NewBench() Bench {
	b := Bench{}
	for _, name := range []string{"light-1", "light-2"} {
		b[name] = New(map[string]string{"": drivers.Off})
	}
	b["door-1"] = New(map[string]string{"": drivers.Closed})
	b["hub-1"] = New(map[string]string{drivers.SubTemperature: "21.5", drivers.SubBuzzer: drivers.Off,
		drivers.SubOccupancy: drivers.Vacant, drivers.SubRing: drivers.Off})
	return b
}

// Kinds are the drivers of the scripts: scripted, scripted-lock and scripted-hub.
func (b Bench) Kinds() []drivers.Kind {
	return []drivers.Kind{
		{Name: "scripted", Type: drivers.TypeLight, Options: func() drivers.Options { return &options{bench: b} }},
		{Name: "scripted-lock", Type: drivers.TypeLock, Options: func() drivers.Options { return &options{bench: b} }},
		{Name: "scripted-hub", Type: drivers.TypeO3, Options: func() drivers.Options { return &options{bench: b} }},
	}
}

type options struct {
	Name  string `yaml:"name"`
	bench Bench
}

func (o *options) Check() error { return nil }
func (o *options) Open(context.Context, drivers.Buses) (drivers.Driver, error) {
	s := o.bench[o.Name]
	if err := s.suffer(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.opened++
	s.mu.Unlock()
	return &Driver{s}, nil
}

// Driver is the driver of a script.
type Driver struct{ *Script }

// isLock says whether the script is of a door.
func (s *Script) isLock() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.value[""] == drivers.Open || s.value[""] == drivers.Closed
}

var onOff = []drivers.Action{{Name: drivers.ActOn}, {Name: drivers.ActOff},
	{Name: drivers.ActIntensity, Params: []drivers.Param{{Name: drivers.ValueName, Kind: drivers.KindInteger, Max: 100}}}}

func (d *Driver) Describe() drivers.Description {
	if d.isLock() {
		return drivers.Description{Type: drivers.TypeLock, Driver: "scripted-lock", Actions: []drivers.Action{{Name: drivers.ActOpen}, {Name: drivers.ActClose}}}
	}
	if _, hub := d.value[drivers.SubRing]; hub {
		return drivers.Description{Type: drivers.TypeO3, Driver: "scripted-hub", Subs: []drivers.SubDevice{
			{Name: drivers.SubTemperature}, {Name: drivers.SubOccupancy}, {Name: drivers.SubBuzzer, Actions: onOff}, {Name: drivers.SubRing, Actions: onOff}}}
	}
	return drivers.Description{Type: drivers.TypeLight, Driver: "scripted", Actions: onOff}
}

func (d *Driver) Poll(context.Context) ([]drivers.Status, error) {
	if err := d.suffer(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.polled++
	var all []drivers.Status
	for sub, value := range d.value {
		if d.fault == "lie" {
			value = "purple"
		}
		all = append(all, drivers.Status{Sub: sub, Value: value, ObservedAt: time.Now(), Source: "script", Err: d.gone[sub]})
	}
	return all, nil
}

func (d *Driver) Do(_ context.Context, c drivers.Command) (drivers.Status, error) {
	if err := d.suffer(); err != nil {
		return drivers.Status{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fault == "ignore" {
		return drivers.Status{}, fmt.Errorf("%w: the lamp is still %s", drivers.ErrNotConfirmed, d.value[c.Sub])
	}
	d.done = append(d.done, c.Action)
	d.value[c.Sub] = drivers.OnOff(c.Action != drivers.ActOff)
	if c.Action == drivers.ActOpen {
		d.value[c.Sub] = drivers.Open
	} else if c.Action == drivers.ActClose {
		d.value[c.Sub] = drivers.Closed
	}
	if d.fault == "contrary" {
		d.value[c.Sub] = drivers.OnOff(c.Action == drivers.ActOff)
	}
	return drivers.Status{Sub: c.Sub, Value: d.value[c.Sub], ObservedAt: time.Now().Add(d.late), Source: "script", Err: d.unseen}, nil
}

func (d *Driver) Close() error { return nil }

// Watch hangs with the device, whatever its context says.
func (d *Driver) Watch(ctx context.Context, _ func(drivers.Event)) error {
	<-ctx.Done()
	_ = d.suffer()
	return ctx.Err()
}

// Polls is how often it was observed.
func (s *Script) Polls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.polled
}

// Drop has the hardware know nothing of a sub-device.
func (s *Script) Drop(sub string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.value, sub)
}

// Forget takes an action from what took effect.
func (s *Script) Forget(action string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = slices.DeleteFunc(s.done, func(a string) bool { return a == action })
}

// Opened is how often it was opened.
func (s *Script) Opened() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened
}
