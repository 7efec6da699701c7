package clock

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

const (
	day  = 24 * time.Hour
	year = 365 * day
)

// board is a machine whose time service says what the test says.
type board struct {
	boot   string
	on     time.Time // when it was started
	asleep time.Duration
	synced bool
}

func newBoard() *board { return &board{boot: "one", on: time.Now()} }

func (b *board) machine() Machine {
	return Machine{Boot: b.boot, Up: func() time.Duration { return time.Since(b.on) + b.asleep }, Synchronized: func() bool { return b.synced }}
}

// pass lets time pass as a gateway does, which looks again and again.
func pass(c *Clock, d time.Duration) {
	for ; d > 0; d -= min(d, 10*time.Minute) {
		time.Sleep(min(d, 10*time.Minute))
		c.Look()
	}
}

// is checks what a clock says: how far it is ahead of the machine's, and its trust.
func is(t *testing.T, what string, c *Clock, ahead time.Duration, trust Trust) {
	t.Helper()
	if got := time.Until(c.Now()); got != ahead || c.Trust() != trust || c.Ahead() != ahead {
		t.Errorf("%s: %v ahead (%v), %s, want %v, %s", what, got, c.Ahead(), c.Trust(), ahead, trust)
	}
}

// What is believed of a clock that is wrong by so much at once, and when it is
// right again.
func TestJumps(t *testing.T) {
	for _, mode := range []string{Auto, Always, Never} {
		for _, by := range []time.Duration{10 * year, -10 * year, 100 * year, 25 * time.Hour, -25 * time.Hour, 23 * time.Hour, -23 * time.Hour, time.Hour, time.Second} {
			t.Run(fmt.Sprint(mode, by), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newBoard()
					b.synced = true
					c := New(Options{Mode: mode, Machine: b.machine()})
					good, believed := Trusted, time.Duration(0)
					if mode == Never {
						good, believed = Untrusted, by // it was never believed, so nothing is known better
					}
					is(t, "at first", c, 0, good)
					pass(c, 3*time.Hour)
					c.Jump(by)
					if by.Abs() > MaxStep {
						is(t, "jumped", c, believed, Untrusted)
						pass(c, 5*time.Hour)
						is(t, "later", c, believed, Untrusted)
					} else {
						is(t, "stepped", c, by, good)
						pass(c, 5*time.Hour)
						is(t, "later", c, by, good)
					}
					b.synced = mode != Auto // for what went back no service is needed
					c.Jump(0)
					is(t, "back", c, 0, good)
					if c.Lived() != 8*3600 {
						t.Errorf("it has lived %d s, want 8 h", c.Lived())
					}
				})
			})
		}
	}
}

// Many steps are a jump too.
func TestStepsAddUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Options{Mode: Always})
		for i := 1; i <= 3; i++ {
			pass(c, time.Hour)
			c.Jump(time.Duration(i) * 10 * time.Hour)
		}
		is(t, "30 hours in three steps", c, 0, Untrusted)
		c.Jump(20 * time.Hour)
		pass(c, 2*day)
		c.Jump(40 * time.Hour)
		is(t, "20 hours two days later", c, 40*time.Hour, Trusted)
	})
}

// A jump is confirmed by another clock, by a person, or by a time service that
// insists on it, unless it is more than any power cut.
func TestConfirmations(t *testing.T) {
	for _, c := range []struct {
		what    string
		by      time.Duration
		confirm func(*board, *Clock)
		want    Trust
		fresh   bool // no time service was there before the jump
	}{
		{"nobody", 2 * day, func(_ *board, c *Clock) { pass(c, 30*day) }, Untrusted, false},
		{"a person", 10 * year, func(_ *board, c *Clock) { c.Confirm() }, Trusted, false},
		{"a clock that agrees", 10 * year, func(_ *board, c *Clock) { c.Witness(time.Now().Add(10*year - time.Minute)) }, Trusted, false},
		{"a clock that does not", 10 * year, func(_ *board, c *Clock) { c.Witness(time.Now()) }, Untrusted, false},
		{"a message that waited", 10 * year, func(_ *board, c *Clock) { c.Witness(time.Now().Add(10*year - time.Hour)) }, Untrusted, false},
		{"a service for an hour", 2 * day, func(b *board, c *Clock) { b.synced = true; pass(c, time.Hour) }, Untrusted, false},
		{"a service for a day", 2 * day, func(b *board, c *Clock) { b.synced = true; pass(c, 25*time.Hour) }, Trusted, false},
		{"a service for a day, back", -2 * day, func(b *board, c *Clock) { b.synced = true; pass(c, 25*time.Hour) }, Trusted, false},
		{"a service with a pause", 2 * day, func(b *board, c *Clock) {
			for range 4 {
				b.synced = !b.synced
				pass(c, 20*time.Hour)
			}
		}, Untrusted, false},
		{"a service that never was there before", 3 * day, func(b *board, c *Clock) { b.synced = true; c.Look() }, Trusted, true},
		{"the same, ten years", 10 * year, func(b *board, c *Clock) { b.synced = true; pass(c, time.Hour) }, Untrusted, true},
		{"a service, ten years", 10 * year, func(b *board, c *Clock) { b.synced = true; pass(c, 30*day) }, Untrusted, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBoard()
			b.synced = !c.fresh
			k := New(Options{Mode: Always, Machine: b.machine()})
			b.synced = false
			pass(k, time.Hour)
			k.Jump(c.by)
			is(t, c.what+", before", k, 0, Untrusted)
			c.confirm(b, k)
			ahead := c.by
			if c.want == Untrusted {
				ahead = 0
			}
			is(t, c.what, k, ahead, c.want)
			if steady := k.Steady(); c.want == Trusted && time.Until(steady) < ahead-day {
				t.Errorf("%s: steady since %v", c.what, steady)
			}
		})
	}
}

// The time service may go, as the internet does: the clock goes on. Only a step
// without it takes the trust.
func TestAutoIsSynchronizedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBoard()
		c := New(Options{Mode: Auto, Machine: b.machine()})
		is(t, "never synchronized", c, 0, Untrusted)
		b.synced = true
		c.Look()
		is(t, "synchronized", c, 0, Trusted)
		b.synced = false
		pass(c, 60*day)
		is(t, "offline for two months", c, 0, Trusted)
		c.Jump(2 * time.Hour)
		is(t, "set by hand", c, 2*time.Hour, Untrusted)
		c.Confirm()
		is(t, "confirmed", c, 2*time.Hour, Trusted)
		c.Jump(3 * time.Hour)
		is(t, "set by hand again", c, 3*time.Hour, Untrusted)
		b.synced = true
		c.Look()
		is(t, "synchronized again", c, 3*time.Hour, Trusted)
	})
}

// What a restart makes of the time that was stored: of the machine, or of the
// program only.
func TestRestarts(t *testing.T) {
	for _, c := range []struct {
		what   string
		reboot bool
		off    time.Duration // by the wall clock
		really time.Duration // by the machine's uptime, without a reboot
		want   Trust
		ahead  time.Duration // Now, of the wall clock
	}{
		{"program, a minute", false, time.Minute, time.Minute, Trusted, 0},
		{"program, a month", false, 30 * day, 30 * day, Trusted, 0},
		{"program, set ten years ahead meanwhile", false, 10*year + time.Minute, time.Minute, Untrusted, -10 * year},
		{"program, set ten years back meanwhile", false, -10*year + time.Minute, time.Minute, Untrusted, 10 * year},
		{"machine, a weekend", true, 3 * day, 0, Trusted, 0},
		{"machine, some months", true, 200 * day, 0, Trusted, 0},
		{"machine, ten years", true, 10 * year, 0, Untrusted, -10 * year},
		{"machine, 1970", true, -30 * year, 0, Untrusted, 30 * year},
		{"machine, an hour back", true, -time.Hour, 0, Trusted, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBoard()
			before := New(Options{Mode: Always, Machine: b.machine()})
			pass(before, time.Hour)
			m := before.Memory()
			after := newBoard()
			after.on = after.on.Add(-time.Hour - c.really) // time stands still in this test
			if c.reboot {
				after.boot = "two"
			}
			// The wall clock of a bubble cannot be set, so what is stored is.
			m.Wall -= c.off.Milliseconds()
			k := New(Options{Mode: Always, Machine: after.machine(), Memory: m})
			is(t, c.what, k, c.ahead, c.want)
			if k.Lived() != 3600 {
				t.Errorf("%s: lived %d s, want an hour", c.what, k.Lived())
			}
			pass(k, 2*time.Hour)
			is(t, c.what+", later", k, c.ahead, c.want)
			if again := New(Options{Mode: Always, Machine: after.machine(), Memory: k.Memory()}); again.Trust() != c.want || again.Lived() != 3*3600 {
				t.Errorf("%s, started again: %s, lived %d s", c.what, again.Trust(), again.Lived())
			}
		})
	}
}

// In one run of the machine auto stays synchronized through a restart of the
// program, which nothing but a step can change.
func TestAutoIsHeldThroughARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBoard()
		b.synced = true
		before := New(Options{Mode: Auto, Machine: b.machine()})
		b.synced = false
		m := before.Memory()
		is(t, "offline", New(Options{Mode: Auto, Machine: b.machine(), Memory: m}), 0, Trusted)
		set := m
		set.Wall += time.Hour.Milliseconds()
		is(t, "set meanwhile", New(Options{Mode: Auto, Machine: b.machine(), Memory: set}), 0, Untrusted)
		b.boot = "two"
		is(t, "another run of the machine", New(Options{Mode: Auto, Machine: b.machine(), Memory: m}), 0, Untrusted)
	})
}

// A machine that slept has not lived through that, and its clock is right.
func TestSleepIsNoJump(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBoard()
		c := New(Options{Mode: Always, Machine: b.machine()})
		pass(c, time.Hour)
		b.asleep = 3 * day
		c.Jump(3 * day) // a bubble cannot sleep so that its clocks differ
		is(t, "after a weekend", c, 3*day, Trusted)
		if c.Lived() != 3600 {
			t.Errorf("lived %d s, want an hour", c.Lived())
		}
		pass(c, 2*day)
		is(t, "two days later", c, 3*day, Trusted)
	})
}

// Steady is what people can rely on: a step, a jump that is confirmed and a
// longer pause begin it again, what a simulated building lives through does not.
func TestSteady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Options{Mode: Always})
		start := time.Now()
		since := func(what string, want time.Time) {
			t.Helper()
			if got := c.Steady(); !got.Equal(want) {
				t.Errorf("%s: steady since %v, want %v", what, got, want)
			}
		}
		pass(c, time.Hour)
		since("at first", start)
		c.Move(5 * time.Hour)
		since("moved", start)
		c.Jump(5*time.Hour + time.Second)
		since("slewed", start)
		c.Jump(8 * time.Hour)
		since("stepped", time.Now().Add(8*time.Hour))
		pass(c, time.Hour)
		step := time.Now().Add(7 * time.Hour)
		since("later", step)
		c.Move(0)
		since("back", time.Now())
		m := c.Memory()
		time.Sleep(time.Minute)
		c = New(Options{Mode: Always, Memory: m})
		since("started again", time.UnixMilli(m.Steady))
		time.Sleep(2 * time.Minute)
		c = New(Options{Mode: Always, Memory: m})
		since("after a pause", time.Now())
	})
}

func TestLivedSince(t *testing.T) {
	for _, c := range []struct {
		now, then Lived
		want      time.Duration
	}{{10, 4, 6 * time.Second}, {4, 10, 0}, {4, 4, 0}, {1<<64 - 1, 0, 1<<63 - 1}} {
		if got := c.now.Since(c.then); got.Truncate(time.Second) != c.want.Truncate(time.Second) {
			t.Errorf("%d since %d: %v, want %v", c.now, c.then, got, c.want)
		}
	}
}
