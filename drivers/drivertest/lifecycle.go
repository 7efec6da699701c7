package drivertest

import (
	"context"
	"errors"
	"slices"
	"time"

	"roomgate/drivers"
)

// options: what is good passes, what is out of range is named.
func options(b *bench) {
	if err := b.options().Check(); err != nil {
		b.Fatalf("Check refuses good options: %v", err)
	}
	if b.c.Kind.Options() == b.c.Kind.Options() {
		b.Error("Kind.Options returns the same options twice, want new ones")
	}
	for _, bad := range b.c.Bad {
		o := b.options()
		bad.Change(o)
		var field *drivers.FieldError
		if err := o.Check(); !errors.As(err, &field) || field.Field != bad.Field {
			b.Errorf("Check of a bad %s gives %v, want a *drivers.FieldError that names it", bad.Field, err)
		}
	}
}

// openQuietly: Open brings outputs into the safe state and moves nothing else.
func openQuietly(b *bench) {
	b.open()
	b.settle()
	levels := map[string][]float64{}
	for _, tr := range b.rig.Log() {
		levels[tr.Line] = append(levels[tr.Line], tr.Level)
	}
	for line, seen := range levels {
		if slices.Min(seen) != slices.Max(seen) {
			b.Errorf("Open pulses %s: %v", line, seen)
		}
	}
	b.safe("Open")
}

// safe checks the outputs of which the case knows the safe level.
func (b *bench) safe(after string) {
	b.Helper()
	levels := map[string]float64{}
	for _, tr := range b.rig.Log() {
		levels[tr.Line] = tr.Level
	}
	for line, want := range b.c.Safe {
		if got, driven := levels[line]; !driven || got != want {
			b.Errorf("after %s %s is at %v (driven: %t), want %v", after, line, got, driven, want)
		}
	}
}

// closeTwice: Close leaves the safe state, holds nothing, and may come twice.
func closeTwice(b *bench) {
	b.start()
	b.energize()
	b.stop()
	for range 2 {
		if err := b.driver.Close(); err != nil {
			b.Errorf("Close: %v", err)
		}
	}
	b.safe("Close")
	if held := b.rig.Held(); len(held) > 0 {
		b.Errorf("after Close the driver still holds %q", held)
	}
	if err := failed(b.poll()); err == nil {
		b.Error("Poll of a closed driver gives no error")
	}
	writes := b.writes()
	for _, action := range []string{drivers.ActOpen, drivers.ActOn} {
		if _, err := b.driver.Do(b.Context(), drivers.Command{Action: action}); err == nil {
			b.Errorf("%s on a closed driver gives no error", action)
		}
	}
	if b.writes() != writes {
		b.Error("a closed driver wrote to the hardware")
	}
}

// energize gives the first command that there is, so that Close has something
// to bring back.
func (b *bench) energize() {
	d := b.driver.Describe()
	for _, sub := range subs(d) {
		for _, action := range []string{drivers.ActOpen, drivers.ActOn} {
			if _, _, ok := d.Action(sub, action); !ok {
				continue
			}
			if _, _, err := b.do(sub, action, ""); err != nil {
				b.Errorf("%s %s: %v", sub, action, err)
			}
		}
	}
}

// subs are the names under which a device takes commands.
func subs(d drivers.Description) []string {
	names := []string{""}
	for _, s := range d.Subs {
		names = append(names, s.Name)
	}
	return names
}

// reopen: what was closed can be opened again, and what is in use cannot.
func reopen(b *bench) {
	b.start()
	b.stop()
	if err := b.driver.Close(); err != nil {
		b.Fatal(err)
	}
	for line := range b.c.Safe {
		release, err := b.take(line)
		if err != nil {
			b.Fatalf("%s was not given back: %v", line, err)
		}
		if _, err := b.options().Open(b.Context(), b.rig); !errors.Is(err, drivers.ErrInUse) {
			b.Errorf("Open while %s is in use gives %v, want ErrInUse", line, err)
		}
		if held := b.rig.Held(); !slices.Equal(held, []string{line}) {
			b.Errorf("an Open that failed holds %q, want only our %s", held, line)
		}
		_ = release()
	}
	b.start()
}

// watch: Watch ends with its context, also when the hardware is silent, and
// reports nothing afterwards.
func watch(b *bench) {
	w, ok := b.open().(drivers.Watcher)
	if !ok {
		b.Skip("the driver does not watch")
	}
	b.watchOnce(w, false)
	b.control("stick")
	b.watchOnce(w, b.c.Blocking)
	b.control("unstick")
}

// watchOnce ends Watch, which may wait for a stuck device only if it blocks.
func (b *bench) watchOnce(w drivers.Watcher, blocks bool) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	over := make(chan error, 1)
	go func() {
		over <- w.Watch(ctx, func(drivers.Event) {
			if len(over) > 0 {
				b.Error("Watch reported after it had returned")
			}
		})
	}()
	b.pause()
	cancel()
	if blocks {
		b.control("unstick")
	}
	select {
	case <-over:
	case <-time.After(time.Second):
		b.Error("Watch did not end within a second of its context")
		_ = b.driver.Close()
		b.world.Close()
		<-over
	}
}
