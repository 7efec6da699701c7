package clock

import "time"

// Lived is a moment in the life of a gateway: how many seconds it has run until
// then, over all its runs. No clock that is set moves it, and it stands still
// without power. After a power cut it may lack the last hour.
//
// Store it beside what is to be forgotten one day, and compare with
// [Clock.Lived]: what has no stamp is from before there were any, and as old as
// the first of them.
type Lived uint64

// Since is the time that was lived through since then, never negative.
func (l Lived) Since(then Lived) time.Duration {
	if l <= then {
		return 0
	}
	return time.Duration(min(l-then, maxLived)) * time.Second
}

// maxLived is what a Duration can hold, in seconds: 292 years.
const maxLived = Lived(1<<63-1) / Lived(time.Second)

// Memory is what a clock has to know after a restart.
type Memory struct {
	Lived   Lived  `json:"lived"`
	Wall    int64  `json:"wall,omitempty"`    // the last time that was believed, Unix time in ms; 0: none was
	Machine string `json:"machine,omitempty"` // the run of the machine in which it was; empty: not known
	Up      int64  `json:"up,omitempty"`      // how long that had lasted, in ms
	Held    bool   `json:"held,omitempty"`    // the clock was synchronized or confirmed, and not stepped since
	Steady  int64  `json:"steady,omitempty"`  // since when time went on without a step, Unix time in ms
	Stepped bool   `json:"stepped,omitempty"` // that was a step of the clock
}

// recall takes what is believed from the run before. In the same run of the
// machine its uptime tells what time it has to be; in another one it is only
// not earlier.
func (c *Clock) recall() {
	m := c.before
	if m.Wall == 0 {
		return
	}
	c.believed = time.UnixMilli(m.Wall)
	if !c.isStep(c.believed) { // it was away for a moment
		c.steady.since = time.UnixMilli(m.Steady)
	}
	if m.Machine != "" && m.Machine == c.machine.Boot {
		c.believed = c.believed.Add(c.awake - time.Duration(m.Up)*time.Millisecond)
		c.here = true
		c.held, c.vouched = m.Held && !c.isStep(c.believed), m.Held
		c.steady.stepped = m.Stepped || c.isStep(c.believed)
	}
}

// keepEvery is how often Memory is to be stored when nothing happens.
const keepEvery = time.Hour

// Lived is how long the gateway has run in all.
func (c *Clock) Lived() Lived {
	return c.before.Lived + Lived(time.Since(c.started)/time.Second)
}

// Due says whether Memory is to be stored: once an hour, and when the clock is
// believed again.
func (c *Clock) Due() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.keep || time.Since(c.started)-c.kept >= keepEvery
}

// Memory is what is to be stored now, in about a hundred bytes.
func (c *Clock) Memory() Memory {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.read()
	c.keep, c.kept = false, time.Since(c.started)
	m := Memory{Lived: c.Lived()}
	if c.believed.IsZero() {
		return m
	}
	m.Wall, m.Steady = c.believed.Add(r.run-c.through).UnixMilli(), c.steady.since.Add(-c.through).UnixMilli()
	m.Stepped = c.steady.stepped
	if c.here && c.machine.Boot != "" {
		m.Machine, m.Held = c.machine.Boot, c.held
		m.Up = (c.awake + r.run).Milliseconds()
	}
	return m
}
