package clock

import "time"

// Verdict is what is thought of the wall clock, and why.
type Verdict struct {
	Trust Trust
	Wall  time.Time     // what it shows
	Jump  time.Duration // how far it is ahead of what can be, negative: behind; 0: it has not jumped
}

// Why says why the clock is not trusted; empty: it is.
func (v Verdict) Why(mode string) string {
	switch {
	case v.Trust == Trusted:
		return ""
	case v.Jump != 0:
		return "jumped"
	case mode == Never:
		return "never"
	}
	return "unsynchronized"
}

// Look asks the machine whether it is synchronized, and says whether the
// verdict has changed since the last look. It is to be called every few seconds.
func (c *Clock) Look() (v Verdict, changed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, synchronized := c.read(), c.machine.synchronized()
	switch {
	case r.jump == 0:
		c.held, c.vouched = c.held || synchronized, c.vouched || synchronized
		c.agreed = -1
	case !synchronized:
		c.agreed = -1
	case !c.vouched && r.jump > 0 && r.jump <= LongestOff: // the first time that this machine learns the time
		c.believe(r)
		r.jump = 0
	case c.agreed < 0:
		c.agreed = r.run
	case r.run-c.agreed >= confirmAfter && r.jump.Abs() <= LongestOff:
		c.believe(r)
		r.jump = 0
	}
	if c.trust(r) == Trusted && (!c.here || r.run-c.anchored >= anchorAge) {
		c.keep = c.keep || !c.here
		c.anchor(r)
	}
	v = Verdict{c.trust(r), r.now.Round(0), r.jump}
	changed = v.Trust != c.shown.Trust || (v.Jump != 0) != (c.shown.Jump != 0)
	c.shown = v
	return v, changed
}

// Shown is the verdict of the last look.
func (c *Clock) Shown() Verdict {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shown
}

// Verdict is what is thought of the wall clock now.
func (c *Clock) Verdict() Verdict {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.read()
	return Verdict{c.trust(r), r.now.Round(0), r.jump}
}

// Confirm takes the word of a person that the wall clock is right, until it is
// stepped again or the machine is started again.
func (c *Clock) Confirm() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.believe(c.read())
}

// Witness takes the word of somebody else's clock that it is at: a jump that it
// agrees with is confirmed. A clock that has not jumped needs no witness.
func (c *Clock) Witness(at time.Time) (confirmed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.read()
	if r.jump == 0 || r.now.Sub(at).Abs() > agreement {
		return false
	}
	c.believe(r)
	return true
}

// believe takes the wall clock for right. Time goes on with a step.
func (c *Clock) believe(r reading) {
	c.held, c.vouched, c.agreed = true, true, -1
	if r.jump != 0 {
		c.steady.since, c.steady.stepped = r.now.Round(0), true
	}
	c.anchor(r)
	c.keep = true
}

// anchor makes the wall clock's origin the one that is believed.
func (c *Clock) anchor(r reading) {
	c.believed, c.here, c.anchored = c.origin, true, r.run
	c.through = c.moved
}
