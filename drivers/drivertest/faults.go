package drivertest

import (
	"context"
	"time"

	"roomgate/drivers"
)

// poll: every sub-device is observed, and a context that has ended is obeyed.
func poll(b *bench) {
	b.start()
	b.pause()
	b.recovered()
	ctx, cancel := context.WithCancel(b.Context())
	cancel()
	began := time.Now()
	_, _ = b.driver.Poll(ctx)
	if waited := time.Since(began); waited > time.Second {
		b.Errorf("Poll with an ended context took %s", waited)
	}
}

// unplug: the driver notices within three polls and recovers by itself.
func unplug(b *bench) {
	b.start()
	b.control("unplug")
	if err := b.fails(3); err == nil {
		b.Error("three polls of an unplugged device gave no error")
	}
	b.refuses("an unplugged")
	b.control("plug")
	b.recovered()
}

// fails polls n times and returns the error that the device has by then.
func (b *bench) fails(n int) error {
	var err error
	for range n {
		b.pause()
		if err = failed(b.poll()); err != nil {
			return err
		}
	}
	return err
}

// refuses checks that a command to a broken device is not reported as done,
// where the device can be read back.
func (b *bench) refuses(how string) {
	b.Helper()
	d := b.driver.Describe()
	for _, sub := range subs(d) {
		for _, action := range []string{drivers.ActOpen, drivers.ActOn} {
			if _, _, ok := d.Action(sub, action); !ok {
				continue
			}
			if _, s, err := b.do(sub, action, ""); err == nil && s.Err == nil && s.Source != drivers.SourceCommand {
				b.Errorf("%s %s on %s device is reported as done", sub, action, how)
			}
		}
	}
}

// garble: what is disturbed is an error, or still right; never another value.
func garble(b *bench) {
	before := b.start()
	b.control("garble")
	since := time.Now()
	for range 3 {
		b.pause()
		statuses, err := b.poll()
		if err != nil {
			continue
		}
		for _, s := range statuses {
			if s.Err != nil || s.Source == drivers.SourceCommand || s.ObservedAt.Before(since) {
				continue
			}
			if want := of(before, s.Sub).Value; s.Value != want {
				b.Errorf("on disturbed wires %q is observed as %q, want an error or %q", s.Sub, s.Value, want)
			}
		}
	}
	b.control("ungarble")
	b.recovered()
}

// stick: a device that never answers does not keep Poll beyond its deadline
// (a Blocking one: beyond the device's answer), and is in the end an error.
func stick(b *bench) {
	b.start()
	b.control("stick")
	since := time.Now()
	for range 30 {
		b.pause()
		statuses, err, late := b.stuckPoll()
		if late || failed(statuses, err) != nil {
			b.control("unstick")
			b.recovered()
			return
		}
		for _, s := range statuses {
			if s.ObservedAt.After(since) && s.Source != drivers.SourceCommand {
				b.Fatalf("a stuck device has a fresh status of %q: %q", s.Sub, s.Value)
			}
		}
	}
	b.Error("a stuck device never becomes an error")
	b.control("unstick")
}

// stuckPoll polls with a short deadline. late says that only unsticking the
// device brought a Blocking driver back.
func (b *bench) stuckPoll() (statuses []drivers.Status, err error, late bool) {
	b.Helper()
	const deadline = 5 * time.Second
	ctx, cancel := context.WithTimeout(b.Context(), deadline)
	defer cancel()
	over := make(chan struct{})
	go func() {
		defer close(over)
		statuses, err = b.driver.Poll(ctx)
	}()
	select {
	case <-over:
		return statuses, err, false
	case <-time.After(deadline + time.Second):
	}
	if !b.c.Blocking {
		b.Errorf("Poll of a stuck device ran beyond its deadline of %s", deadline)
	}
	b.control("unstick")
	select {
	case <-over:
	case <-time.After(callTime):
		b.Error("Poll did not return after the device answered again")
		b.world.Close()
		<-over
	}
	return statuses, err, true
}

// delay: a slow device is a slow device, no broken one.
func delay(b *bench) {
	before := b.start()
	b.control("delay", "200ms")
	b.pause()
	for _, s := range b.recovered() {
		if want := of(before, s.Sub).Value; s.Value != want {
			b.Errorf("a slow %q is observed as %q, want %q", s.Sub, s.Value, want)
		}
	}
	b.control("nodelay")
}
