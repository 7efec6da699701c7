package rollout

import (
	"encoding/json"
	"strings"
	"time"

	"roomgate/cloud"
	"roomgate/cloud/backend"
)

// The states of a Step.
const (
	stepWaiting = "waiting"
	stepSending = "sending" // it may have gone
	stepSent    = "sent"
	stepTaken   = "taken"
	stepRefused = "refused"
	stepLate    = "late"
)

// Step is how one gateway stands in a rollout.
type Step struct {
	Gateway  string    `json:"gateway_id"`
	State    string    `json:"state"`
	Message  string    `json:"message,omitempty"`  // the id of the configuration
	Revision uint64    `json:"revision,omitempty"` // that it has there
	At       time.Time `json:"at,omitzero"`        // when it was sent
	Ended    time.Time `json:"ended,omitzero"`
	Why      string    `json:"why,omitempty"` // it was refused
}

// answers are those that a step waits for, or would still take.
func (s Step) answers() bool {
	return s.State == stepSending || s.State == stepSent || s.State == stepLate
}

// told is the state of a step after a message of its gateway, and why.
func (s Step) told(release string, m backend.Received) (state, why string) {
	if !s.answers() {
		return s.State, ""
	}
	switch m.Level {
	case cloud.LevelReceipt:
		return s.receipt(release, m.Data)
	case cloud.LevelHeartbeat, cloud.LevelPresence:
		var said struct{ Version, State string }
		switch err := json.Unmarshal(m.Data, &said); {
		case err == nil && release != "" && said.Version == release:
			return stepTaken, ""
		case err == nil && said.State == "online" && s.State == stepSent: // the broker may have lost what it kept
			return stepSending, ""
		}
	case cloud.LevelEvent:
		if release != "" && m.Time.After(s.At) {
			return s.event(m)
		}
	}
	return s.State, ""
}

// receipt is the state after a receipt.
func (s Step) receipt(release string, data json.RawMessage) (state, why string) {
	var r backend.Receipt
	if json.Unmarshal(data, &r) != nil || r.CommandID != s.Message {
		return s.State, ""
	}
	switch {
	case r.State == backend.Accepted, r.State == backend.Done && release != "": // it has still to run it
		return s.State, ""
	case r.State == backend.Done:
		return stepTaken, ""
	}
	return stepRefused, short(r.Reason)
}

// event is the state after an event: a gateway that does not run a release, or went back
// to the one before, says so.
func (s Step) event(m backend.Received) (state, why string) {
	var said struct {
		Details struct{ Reason string }
	}
	switch strings.TrimPrefix(m.Type, "roomgate.event.") {
	case "updateRefused", "updateFailed":
		_ = json.Unmarshal(m.Data, &said)
		return stepRefused, short(said.Details.Reason)
	}
	return s.State, ""
}

// short is as much of a gateway's reason as is kept.
func short(reason string) string { return strings.ToValidUTF8(reason[:min(len(reason), 300)], "") }
