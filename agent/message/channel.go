package message

import (
	"time"

	"roomgate/agent/problem"
)

// State is where a message stands on one of its ways.
type State string

// The states of a message. Sent is the last that can be known: whether
// somebody has read it, nobody tells.
const (
	Unused  State = "unused" // it does not go this way, Reason says why
	Queued  State = "queued"
	Sent    State = "sent" // the cloud, or the push gateway, has taken it
	Failed  State = "failed"
	Expired State = "expired" // it was not worth sending any more
)

// Channel is how a message fares on one way.
type Channel struct {
	State  State  `json:"state"`
	Reason string `json:"reason,omitempty"` // why it is not sent, or not yet
	// Attempts and At are of a push gateway: how often it was tried, and when
	// the state became final.
	Attempts int       `json:"attempts,omitempty"`
	At       time.Time `json:"at,omitzero"`
}

// Open says whether something is still to be done.
func (c Channel) Open() bool { return c.State == Queued }

// Ends is the channel in a final state.
func (c Channel) Ends(state State, reason string, now time.Time) Channel {
	c.State, c.Reason, c.At = state, reason, now.UTC().Truncate(time.Millisecond)
	return c
}

func wrong(field, format string, args ...any) error {
	return problem.New(problem.Invalid, field, format, args...)
}
