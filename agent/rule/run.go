package rule

import "time"

// LateLimit is how old a trigger may be when a rule is asked: what happened
// while the gateway was off longer than that is noted and not acted upon.
const LateLimit = 5 * time.Minute

// KeepRuns is how many runs the log of a rule keeps.
const KeepRuns = 20

// Outcome is the result of a trigger.
type Outcome string

// The outcomes of a Run.
const (
	Held      Outcome = "held"      // the condition held, the actions were taken
	NotHeld   Outcome = "not_held"  // it did not
	Skipped   Outcome = "skipped"   // the trigger was too old when it was seen
	Limited   Outcome = "limited"   // it held, and the rule had run often enough
	Suspended Outcome = "suspended" // it held, and was part of a loop
)

// Run is one entry in the log of a rule.
type Run struct {
	ID      string    `json:"id"`
	At      time.Time `json:"at"`
	SpaceID string    `json:"meeting_space_id,omitempty"`
	Trigger string    `json:"trigger"` // in words
	Outcome Outcome   `json:"outcome"`
	Reason  string    `json:"reason,omitempty"`
	// Count is how many in a row came to the same; At is when the last did.
	Count   int      `json:"count"`
	Actions []Result `json:"actions,omitempty"`
	// Chain are the rules that led to this run, one triggering the other.
	Chain []string `json:"chain,omitempty"`
	Seq   uint64   `json:"seq"` // its number among the rule's runs, from 0
}

// Result is the outcome of one action.
type Result struct {
	Action     string    `json:"action"` // in words
	CommandID  string    `json:"command_id,omitempty"`
	MessageID  string    `json:"message_id,omitempty"`
	State      string    `json:"state"` // as of a receipt: accepted, done, failed, rejected, expired
	Reason     string    `json:"reason,omitempty"`
	FinishedAt time.Time `json:"finished_at,omitzero"`
}

// Slot is which of the KeepRuns places of the log it has.
func (r Run) Slot() int { return int(r.Seq % KeepRuns) }

// Open says that an action is under way.
func (r Run) Open() bool {
	for _, a := range r.Actions {
		if a.State == Accepted {
			return true
		}
	}
	return false
}

// Accepted is the state of an action that is under way.
const Accepted = "accepted"

// Same says whether a run tells no more than the one before it.
func (r Run) Same(as Run) bool {
	return r.Outcome != Held && r.Outcome != Suspended && r.Outcome == as.Outcome && r.SpaceID == as.SpaceID && r.Reason == as.Reason
}

// Log keeps the last runs of one rule, oldest first.
type Log struct {
	Runs []Run
	next uint64
}

// NewLog continues a log.
func NewLog(runs []Run) *Log {
	l := &Log{Runs: runs}
	if n := len(runs); n > 0 {
		l.next = runs[n-1].Seq + 1
	}
	return l
}

// Clone is a log that can be changed without this one.
func (l *Log) Clone() *Log { return &Log{append([]Run(nil), l.Runs...), l.next} }

// Add notes a run, in the place of the oldest if need be, or counts it to the
// last one if that is the same. It returns the entry as it is to be stored.
func (l *Log) Add(r Run) Run {
	if n := len(l.Runs); n > 0 && r.Same(l.Runs[n-1]) {
		last := &l.Runs[n-1]
		last.Count++
		last.At, last.Trigger = r.At, r.Trigger
		return *last
	}
	r.Count, r.Seq = 1, l.next
	l.next++
	l.Runs = append(l.Runs, r)
	if len(l.Runs) > KeepRuns {
		l.Runs = append([]Run(nil), l.Runs[1:]...)
	}
	return r
}

// Find returns the run of that id.
func (l *Log) Find(id string) *Run {
	for i := range l.Runs {
		if l.Runs[i].ID == id {
			return &l.Runs[i]
		}
	}
	return nil
}

// LastHeld is when the rule last ran in a space; zero: not as far as the log
// goes.
func (l *Log) LastHeld(spaceID string) (at time.Time) {
	for _, r := range l.Runs {
		if r.Outcome == Held && r.SpaceID == spaceID {
			at = r.At
		}
	}
	return at
}
