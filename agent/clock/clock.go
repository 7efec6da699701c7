// Package clock says what time it is for the building, what that is worth, and
// how long the gateway has run.
//
// A board without a battery starts anywhere in time, and a time server may be
// wrong by years. So a clock that differs by more than [MaxStep] from the time
// that was lived through has jumped: it is not trusted, and [Clock.Now] goes on
// by the time that was lived through, until the jump is confirmed or taken back.
package clock

import (
	"sync"
	"time"
)

// Trust is what the wall clock is worth.
type Trust string

// A trusted clock is synchronized; an untrusted one may say anything.
const (
	Trusted   Trust = "trusted"
	Untrusted Trust = "untrusted"
)

// The modes: when to believe a clock that has not jumped.
const (
	Auto   = "auto"   // once it was synchronized, and until it is stepped without that
	Always = "always" // from the start
	Never  = "never"
)

const (
	// MaxStep is the most by which a trusted clock may be stepped, in a day.
	MaxStep = 24 * time.Hour
	// LongestOff is how long a machine may have been off: if it starts later
	// than that after the last time that was believed, its clock has jumped.
	LongestOff = 400 * 24 * time.Hour
	// unsteady is the least difference that is a step; less is a clock that is
	// slowed down or sped up.
	unsteady = time.Minute
	// confirmAfter is how long a time service has to insist on a jump.
	confirmAfter = 24 * time.Hour
	// agreement is how far apart two clocks may be that agree.
	agreement = 2 * time.Minute
	// anchorAge is how long steps add up to what MaxStep allows.
	anchorAge = 24 * time.Hour
)

// Options are what a clock is made of.
type Options struct {
	Mode    string  // Auto, Always or Never
	Memory  Memory  // what was kept of the run before
	Machine Machine // the zero Machine is never synchronized
}

// Clock judges the wall clock. It may be used by many.
//
// It reasons in origins: the time at which this run began, as the wall clock
// would have it now. It changes with each step of the clock and with nothing else.
type Clock struct {
	mode    string
	machine Machine
	before  Memory
	started time.Time // with a monotonic reading

	mu       sync.Mutex
	slept    time.Duration // of the machine since the start, which no monotonic reading has
	awake    time.Duration // of the machine at the start
	origin   time.Time     // at the last reading
	believed time.Time     // the origin that is believed; zero: none ever was
	here     bool          // it is one of this run of the machine, so it can be compared exactly
	anchored time.Duration // of this run, when that was last renewed
	steady   steadiness
	held     bool          // it was synchronized or confirmed, and not stepped since
	vouched  bool          // a time service, a person or another clock was for it in this run of the machine
	agreed   time.Duration // of this run, since when a time service insists on a jump; negative: none does
	moved    time.Duration // how far a simulated building is ahead
	through  time.Duration // how much of that it has lived through
	keep     bool          // Memory is to be stored soon
	kept     time.Duration // of this run, when it was last stored
	shown    Verdict       // of the last Look
}

// steadiness is since when Now goes on without a step, and whether a step of the clock began that, not a start.
type steadiness struct {
	since   time.Time
	stepped bool
}

// New starts the clock of a run.
func New(o Options) *Clock {
	c := &Clock{mode: o.Mode, machine: o.Machine, before: o.Memory, started: time.Now(), agreed: -1}
	c.awake = c.machine.up()
	c.origin, c.steady.since = c.started.Round(0), c.started.Round(0)
	c.recall()
	c.Look()
	return c
}

// reading is a moment: how long the run has lasted, with the sleep of the
// machine, and what the wall clock shows.
type reading struct {
	now  time.Time // the wall clock, with a monotonic reading
	run  time.Duration
	jump time.Duration // how far the wall clock is ahead of what is believed; 0: it has not jumped
}

// read takes a reading and notices a step. The caller holds mu.
func (c *Clock) read() reading {
	t := time.Now()
	r := reading{now: t.Add(c.moved), run: t.Sub(c.started) + c.slept}
	origin := r.now.Round(0).Add(-r.run)
	if c.isStep(origin) {
		c.slept = c.machine.up() - c.awake - t.Sub(c.started)
		if c.machine.Boot == "" || c.slept < unsteady {
			c.slept = 0
		}
		r.run = t.Sub(c.started) + c.slept
		origin = r.now.Round(0).Add(-r.run)
	}
	if c.isStep(origin) {
		c.origin, c.agreed = origin, -1
		c.held = c.jumpTo(origin) == 0 && (c.machine.synchronized() || c.here && !c.isStep(c.believed))
		r.jump = c.jumpTo(origin)
		c.steady.since, c.steady.stepped = c.at(r).Round(0), true
	}
	c.origin = origin
	r.jump = c.jumpTo(origin)
	return r
}

func (c *Clock) isStep(origin time.Time) bool { return origin.Sub(c.origin).Abs() > unsteady }

// jumpTo is how far an origin is from what can be; 0: it is near enough.
func (c *Clock) jumpTo(origin time.Time) time.Duration {
	if c.believed.IsZero() {
		return 0
	}
	latest := MaxStep
	if !c.here {
		latest = LongestOff
	}
	if d := origin.Sub(c.believed); d < -MaxStep || d > latest {
		return d
	}
	return 0
}

// Now is the time by which the building lives: that of the wall clock or, while
// that has jumped, the time that was lived through since it was last believed.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at(c.read())
}

func (c *Clock) at(r reading) time.Time {
	if r.jump != 0 {
		return c.believed.Add(r.run)
	}
	return r.now
}

// Trust says whether the wall clock is believed now. A jump is noticed at once.
func (c *Clock) Trust() Trust {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.trust(c.read())
}

func (c *Clock) trust(r reading) Trust {
	if c.mode == Never || r.jump != 0 || c.mode != Always && !c.held {
		return Untrusted
	}
	return Trusted
}

// Steady is since when Now goes on without a step of more than a minute, and
// the gateway without a pause of more than that. Anybody who waits for people waits from then.
func (c *Clock) Steady() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read()
	return c.steady.since
}

// Stepped says whether Steady began with a step of the clock, in this run or, as far as the same run of the machine tells,
// before it.
func (c *Clock) Stepped() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read()
	return c.steady.stepped
}

// Move sets a simulated building ahead by so much altogether, as if it had
// lived through that.
func (c *Clock) Move(ahead time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read()
	c.origin = c.origin.Add(ahead - c.moved)
	if !c.believed.IsZero() {
		c.believed = c.believed.Add(ahead - c.through)
	}
	c.moved, c.through = ahead, ahead
	if now := c.at(c.read()); c.steady.since.After(now) {
		c.steady.since = now.Round(0)
	}
}

// Jump makes the wall clock of a simulated building wrong: it is ahead by so
// much altogether, and did not live through that.
func (c *Clock) Jump(ahead time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read()
	c.moved = ahead
}

// Ahead is how far Now is ahead of the wall clock of the machine.
func (c *Clock) Ahead() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.read()
	if r.jump != 0 {
		return c.moved + c.believed.Add(r.run).Sub(r.now)
	}
	return c.moved
}
