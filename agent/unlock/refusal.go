package unlock

import (
	"time"

	"roomgate/agent/eventlog"
)

const (
	// refusalWindow is how long the keypad of a door logs a kind of refusal
	// once. Further refusals are counted, and logged when that is over: anybody who
	// stands at the door and types shall not fill the log.
	refusalWindow = time.Hour
	// maxRefusals is how many kinds are told apart in that time: reasons and, of
	// codes that there are, whose. The others count together for their reason.
	maxRefusals = 32
)

// refusals are what the keypad of a door has refused in a window.
type refusals struct {
	until time.Time // zero: there is no window
	kinds map[refusal]int
}

// refusal is a kind of refusal.
type refusal struct {
	why  string
	code string // its id; empty: none, or one of many
}

// take counts a refusal, and says whether it is the first of its kind in the
// window.
func (r *refusals) take(why string, c *storedCode, now time.Time) (first bool) {
	if r.until.IsZero() {
		r.until, r.kinds = now.Add(refusalWindow), map[refusal]int{}
	}
	kind := refusal{why: why}
	if c != nil {
		kind.code = c.ID
	}
	if _, known := r.kinds[kind]; !known && len(r.kinds) >= maxRefusals {
		kind.code = ""
	}
	r.kinds[kind]++
	return r.kinds[kind] == 1
}

// close ends the window and returns what was counted in it and not logged.
func (r *refusals) close() map[refusal]int {
	more := map[refusal]int{}
	for kind, n := range r.kinds {
		if n > 1 {
			more[kind] = n - 1
		}
	}
	*r = refusals{}
	return more
}

// refuse logs that a code did not open the door, or counts it. The caller
// holds the keypad's mu.
func (cs *Codes) refuse(k *keypad, c *storedCode, why string) {
	if !k.refused.take(why, c, time.Now()) {
		return
	}
	details := map[string]any{}
	if c != nil {
		details = c.details()
	}
	details["reason"] = why
	cs.o.Events.Add(eventlog.Change{Rows: []eventlog.Row{k.lock.Event(eventRefused, "", time.Now(), details)}})
}

// sumRefusals logs what was only counted, when its window is over, or at the
// end.
func (cs *Codes) sumRefusals(k *keypad, last bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.refused.until.IsZero() || !last && time.Now().Before(k.refused.until) {
		return
	}
	since := k.refused.until.Add(-refusalWindow)
	var rows []eventlog.Row
	for kind, n := range k.refused.close() {
		details := map[string]any{"reason": kind.why, "count": n, "since": eventlog.Stamp(since)}
		if kind.code != "" {
			details["code_id"] = kind.code
		}
		rows = append(rows, k.lock.Event(eventRefused, "", time.Now(), details))
	}
	if len(rows) > 0 {
		cs.o.Events.Add(eventlog.Change{Rows: rows})
	}
}

// untilRefusals is how long the keypad may wait until it has something to sum
// up.
func (k *keypad) untilRefusals() time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.refused.until.IsZero() {
		return refusalWindow
	}
	return max(time.Until(k.refused.until), time.Millisecond)
}
