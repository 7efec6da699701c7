package rule

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	// maxAgain is how often a rule may run because of its own actions.
	maxAgain = 3
	// longestChain is how many rules may trigger one another in a row.
	longestChain = 16
	// patience is for how many minutes in a row a rule may be held back by its
	// limit until it is taken for a loop that nobody sees.
	patience = 10
)

// Loop says why a rule that is about to run after these must not; empty: it
// may. A rule may answer to itself a few times, as one that turns a light
// down step by step.
func Loop(id string, chain []string) string {
	again := 0
	for _, other := range chain {
		if other == id {
			again++
		}
	}
	switch {
	case again >= maxAgain:
		return "it triggers itself again and again: " + around(id, chain)
	case len(chain) >= longestChain:
		return fmt.Sprintf("it is the end of a chain of %d rules that trigger one another: %s", len(chain), around(id, chain))
	}
	return ""
}

// around names the rules that are part of a loop, each once: not those that led
// into it.
func around(id string, chain []string) string {
	if i := slices.Index(chain, id); i >= 0 {
		chain = chain[i:]
	}
	var all []string
	for _, other := range append([]string{id}, chain...) {
		if !slices.Contains(all, other) {
			all = append(all, other)
		}
	}
	return strings.Join(all, ", ")
}

// Rate counts the runs of one rule in one space.
type Rate struct {
	runs    []time.Time // of the last minute
	last    time.Time
	refused int       // minutes in a row in which runs were refused
	minute  time.Time // the last of them
}

// RateSince begins with the last run that is known.
func RateSince(last time.Time) *Rate { return &Rate{last: last} }

// Take allows a run at now, or says why not. Storm says that the rule has been
// held back for so long that it is to be suspended. A clock that was set back
// forgets what it no longer can measure.
func (r *Rate) Take(l Limits, now time.Time) (refusal string, storm bool) {
	r.runs = slices.DeleteFunc(r.runs, func(t time.Time) bool { return now.Sub(t) >= time.Minute || t.After(now) })
	if r.last.After(now) {
		r.last = time.Time{}
	}
	if r.rest(l, now) > 0 {
		return "it rests for " + l.Cooldown.String() + " after a run", false
	}
	if len(r.runs) < l.PerMinute {
		r.runs, r.last = append(r.runs, now), now
		return "", false
	}
	if minute := now.Truncate(time.Minute); !minute.Equal(r.minute) {
		if minute.Sub(r.minute) > time.Minute {
			r.refused = 0
		}
		r.refused, r.minute = r.refused+1, minute
	}
	return fmt.Sprintf("it has run %d times within a minute", l.PerMinute), r.refused > patience
}

// rest is how much of the cooldown is left.
func (r *Rate) rest(l Limits, now time.Time) time.Duration {
	if l.Cooldown <= 0 || r.last.IsZero() {
		return 0
	}
	return time.Duration(l.Cooldown) - now.Sub(r.last)
}

// Clone is a count that can be taken from without this one.
func (r *Rate) Clone() *Rate {
	c := *r
	c.runs = slices.Clone(r.runs)
	return &c
}

// Would is Take without taking.
func (r *Rate) Would(l Limits, now time.Time) (refusal string) {
	refusal, _ = r.Clone().Take(l, now)
	return refusal
}
