package lock

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/drivers"
)

// watching runs f beside Watch and returns what was reported.
func (b *bench) watching(f func()) (told []drivers.Event) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error)
	go func() {
		done <- b.lock.(drivers.Watcher).Watch(ctx, func(e drivers.Event) { told = append(told, e) })
	}()
	synctest.Wait()
	f()
	synctest.Wait()
	cancel()
	if err := <-done; err == nil {
		b.Fatal("watch ended without an error")
	}
	return told
}

// types are the events without those that only ask for a poll.
func types(events []drivers.Event) []string {
	var all []string
	for _, e := range events {
		if e.Type != drivers.EventChanged {
			all = append(all, e.Type)
		}
	}
	return all
}

func (b *bench) expect(told []drivers.Event, want ...string) {
	b.Helper()
	if got := types(told); !slices.Equal(got, want) {
		b.Fatalf("reported %q, want %q", got, want)
	}
}

func TestForcedDoor(t *testing.T) {
	on(t, wired(), func(b *bench) {
		b.expect(b.watching(func() {
			b.door.Force()
			time.Sleep(time.Second)
			b.door.Shut()
			time.Sleep(time.Second)
		}), drivers.EventDoorForced, drivers.EventDoorShut)
	})
}

func TestBounceIsOneEvent(t *testing.T) {
	on(t, wired(), func(b *bench) {
		told := b.watching(func() {
			for range 5 {
				b.door.Force()
				time.Sleep(3 * time.Millisecond)
				b.door.Shut()
				time.Sleep(3 * time.Millisecond)
			}
			b.door.Force()
			time.Sleep(500 * time.Millisecond)
		})
		if b.expect(told, drivers.EventDoorForced); len(told) != 2 {
			b.Fatalf("reported %d times: %+v", len(told), told)
		}
	})
}

func TestDoorUsedAsItShould(t *testing.T) {
	on(t, wired(), func(b *bench) {
		told := b.watching(func() {
			_, err := b.do(drivers.ActOpen, 0)
			b.must(err)
			time.Sleep(4900 * time.Millisecond) // the last moment: the door is read after it has locked
			b.must(b.door.Ajar())
			time.Sleep(3 * time.Second)
			b.door.Shut()
			time.Sleep(time.Second)
		})
		if b.expect(told); len(told) < 4 {
			b.Fatalf("bolt and leaf moved twice each: %+v", told)
		}
	})
}

func TestDoorHeldOpen(t *testing.T) {
	on(t, wired(), func(b *bench) {
		_, err := b.do(drivers.ActOpen, 0)
		b.must(err)
		b.must(b.door.Ajar())
		opened := time.Now()
		told := b.watching(func() { time.Sleep(time.Minute) })
		b.expect(told, drivers.EventDoorHeldOpen)
		for _, e := range told {
			if e.Type != drivers.EventChanged && e.Time.Sub(opened) > 31*time.Second {
				b.Fatalf("told after %v", e.Time.Sub(opened))
			}
		}
		// Watch may be started again: nothing is told twice or forgotten.
		b.expect(b.watching(func() { time.Sleep(time.Minute) }))
		b.door.Shut()
		b.expect(b.watching(func() { time.Sleep(time.Minute) }), drivers.EventDoorShut)
	})
}

func TestHeldOpenIsNotToldIfItIsSwitchedOff(t *testing.T) {
	o := wired()
	o.HeldOpen = 0
	on(t, o, func(b *bench) {
		_, err := b.do(drivers.ActOpen, 0)
		b.must(err)
		b.must(b.door.Ajar())
		b.expect(b.watching(func() { time.Sleep(time.Hour) }))
	})
}

func TestRelockWithoutSenseAsksForAPoll(t *testing.T) {
	o := defaults()
	o.Relay = "relay"
	on(t, o, func(b *bench) {
		told := b.watching(func() {
			_, err := b.do(drivers.ActOpen, 0)
			b.must(err)
			time.Sleep(5*time.Second + time.Millisecond)
		})
		if len(told) == 0 || told[len(told)-1].Type != drivers.EventChanged {
			b.Fatalf("reported %+v", told)
		}
	})
}
