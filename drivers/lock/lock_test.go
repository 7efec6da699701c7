package lock

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/sim"
)

// bench is a lock on a simulated door.
type bench struct {
	*testing.T
	world *sim.World
	door  *sim.Door
	lock  drivers.Driver
}

func wired() *Options {
	o := defaults()
	o.Relay, o.Sense, o.Contact = "relay", "sense", "contact"
	return o
}

// on opens a lock in a bubble of virtual time and runs f.
func on(t *testing.T, o *Options, f func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{T: t, world: sim.NewWorld()}
		b.door = &sim.Door{Relay: o.Relay, Sense: o.Sense, Contact: o.Contact, ActiveLow: o.ActiveLow}
		b.must(b.world.Add("room", "lock", b.door))
		var err error
		b.lock, err = o.Open(t.Context(), b.world)
		b.must(err)
		defer b.world.Close()
		defer b.lock.Close()
		f(b)
	})
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) do(action string, seconds float64) (drivers.Status, error) {
	args := drivers.Args{}
	if seconds > 0 {
		args[drivers.ValueName] = seconds
	}
	return b.lock.Do(b.Context(), drivers.Command{Action: action, Args: args})
}

func (b *bench) value() string {
	b.Helper()
	all, err := b.lock.Poll(b.Context())
	b.must(err)
	return all[0].Value
}

// levels are the writes to the relay so far.
func (b *bench) levels() []float64 {
	var levels []float64
	for _, t := range b.world.Log() {
		levels = append(levels, t.Level)
	}
	return levels
}

func TestNothingPulsesAtStartAndEnd(t *testing.T) {
	for _, activeLow := range []bool{false, true} {
		o := wired()
		o.ActiveLow = activeLow
		on(t, o, func(b *bench) {
			b.must(b.lock.Close())
			want := 0.0
			if activeLow {
				want = 1
			}
			for _, level := range b.levels() {
				if level != want {
					b.Fatalf("active low %v: relay went to %g", activeLow, level)
				}
			}
		})
	}
}

func TestUnlockTime(t *testing.T) {
	tests := map[string]struct {
		mode    string
		seconds float64
		want    time.Duration // 0: for ever
	}{
		"pulse":         {modePulse, 0, 5 * time.Second},
		"longer":        {modePulse, 300, 300 * time.Second},
		"shorter":       {modePulse, 1, time.Second},
		"hold":          {modeHold, 0, 0},
		"hold, bounded": {modeHold, 7, 7 * time.Second},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			o := wired()
			o.Mode = c.mode
			on(t, o, func(b *bench) {
				began := time.Now()
				s, err := b.do(drivers.ActOpen, c.seconds)
				b.must(err)
				if s.Value != drivers.Open || s.Source != "sense line" || s.Details["door"] != shut {
					b.Fatalf("evidence %+v", s)
				}
				if c.want == 0 {
					time.Sleep(time.Hour)
					if b.value() != drivers.Open {
						b.Fatal("locked by itself")
					}
					return
				}
				time.Sleep(time.Until(began.Add(c.want - time.Millisecond)))
				if !b.door.Drawn() {
					b.Fatal("locked too early")
				}
				time.Sleep(time.Second)
				if b.door.Drawn() || b.value() != drivers.Closed {
					b.Fatal("still open though nobody polled")
				}
			})
		})
	}
}

func TestTheLastOrderCounts(t *testing.T) {
	on(t, wired(), func(b *bench) {
		_, err := b.do(drivers.ActOpen, 10)
		b.must(err)
		time.Sleep(9 * time.Second)
		_, err = b.do(drivers.ActOpen, 10)
		b.must(err)
		time.Sleep(9 * time.Second)
		if b.value() != drivers.Open {
			b.Fatal("the first command's timer locked the second")
		}
		s, err := b.do(drivers.ActClose, 0)
		b.must(err)
		if s.Value != drivers.Closed || b.door.Drawn() {
			b.Fatalf("not closed: %+v", s)
		}
	})
}

func TestJammedBoltIsNotConfirmedAndLockedAgain(t *testing.T) {
	on(t, wired(), func(b *bench) {
		b.door.Jam()
		began := time.Now()
		_, err := b.do(drivers.ActOpen, 0)
		if !errors.Is(err, drivers.ErrNotConfirmed) || time.Since(began) != 500*time.Millisecond {
			b.Fatalf("after %v: %v", time.Since(began), err)
		}
		levels := b.levels()
		if levels[len(levels)-1] != 0 {
			b.Fatal("the relay stays energised")
		}
		b.door.Free()
		time.Sleep(time.Second)
		if b.door.Drawn() {
			b.Fatal("the door opens once it is free")
		}
	})
}

func TestCancelledOrderLocksAgain(t *testing.T) {
	on(t, wired(), func(b *bench) {
		b.door.Jam()
		ctx, cancel := context.WithTimeout(b.Context(), 100*time.Millisecond)
		defer cancel()
		_, err := b.lock.Do(ctx, drivers.Command{Action: drivers.ActOpen})
		if !errors.Is(err, context.DeadlineExceeded) {
			b.Fatal(err)
		}
		b.door.Free()
		time.Sleep(time.Second)
		if b.door.Drawn() {
			b.Fatal("a command that failed left the door open")
		}
	})
}

// TestOrderOnAStuckLineDoesNotOpenLate: nobody waits any more when the line
// answers again, so the door must not stay open for it.
func TestOrderOnAStuckLineDoesNotOpenLate(t *testing.T) {
	o := wired()
	o.Sense, o.Contact = "", ""
	on(t, o, func(b *bench) {
		ctx, cancel := context.WithTimeout(b.Context(), time.Second)
		defer cancel()
		b.door.Stick()
		ended := make(chan error, 1)
		go func() { _, err := b.lock.Do(ctx, drivers.Command{Action: drivers.ActOpen}); ended <- err }()
		time.Sleep(time.Minute)
		b.door.Unstick()
		if err := <-ended; !errors.Is(err, context.DeadlineExceeded) {
			b.Fatal(err)
		}
		time.Sleep(500 * time.Millisecond)
		if b.door.Drawn() {
			b.Fatal("the door is open a minute after the command was given up")
		}
	})
}

func TestWithoutSenseTheOrderIsTheSource(t *testing.T) {
	o := defaults()
	o.Relay = "relay"
	on(t, o, func(b *bench) {
		s, err := b.do(drivers.ActOpen, 0)
		b.must(err)
		if s.Value != drivers.Open || s.Source != drivers.SourceCommand || s.Details != nil {
			b.Fatalf("%+v", s)
		}
	})
}

func TestRelayThatFailsToLockIsTriedAgain(t *testing.T) {
	on(t, wired(), func(b *bench) {
		_, err := b.do(drivers.ActOpen, 5)
		b.must(err)
		b.door.Garble() // every access fails; the coil keeps what it was told
		time.Sleep(6 * time.Second)
		if _, err := b.lock.Poll(b.Context()); err == nil {
			b.Fatal("a lock that cannot be locked polls well")
		}
		b.door.Ungarble()
		time.Sleep(2 * time.Second)
		if b.door.Drawn() {
			b.Fatal("still open")
		}
	})
}
