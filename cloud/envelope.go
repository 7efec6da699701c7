package cloud

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// SpecVersion is the CloudEvents version of every envelope.
const SpecVersion = "1.0"

// The largest envelopes that Decode and DecodeLarge read, in bytes.
const (
	MaxEnvelope = 64 << 10
	MaxLarge    = 4 << 20
)

// Envelope is a message's payload: a CloudEvents 1.0 JSON object, with the
// extension attributes that a gateway adds.
type Envelope struct {
	SpecVersion string    `json:"specversion"` // "1.0"
	ID          string    `json:"id"`          // unique per source
	Source      string    `json:"source"`      // "roomgate/{gateway_id}"
	Type        string    `json:"type"`        // TypeOf(level), for events with the event's name behind it
	Subject     string    `json:"subject,omitempty"`
	Time        time.Time `json:"time,omitzero"`
	Sequence    uint64    `json:"sequence,omitempty"`  // the outbox row, from 1
	BootID      string    `json:"bootid,omitempty"`    // changes with each start of the gateway
	TimeTrust   string    `json:"timetrust,omitempty"` // whether Time can be believed
	// Counter rises from one signed command to the next of a key.
	Counter uint64          `json:"counter,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"`
	// Retained says that the broker had kept the message, as MQTT tells it to
	// who subscribes. It is no attribute of the envelope.
	Retained bool `json:"-"`
	// SignedBy names the key whose signature over the envelope was verified; empty:
	// it has none. It is no attribute either.
	SignedBy string `json:"-"`
	// Parts are the ids of the other messages that this one was put together from: each
	// gets the same answer. They are no attribute.
	Parts []string `json:"-"`
}

// EnvelopeError names the attribute of an envelope that cannot be accepted.
type EnvelopeError struct {
	Field   string // as CloudEvents spells it; empty: the envelope as a whole
	Problem string
}

// Error is the attribute and the problem, as "id is missing".
func (e *EnvelopeError) Error() string {
	if e.Field == "" {
		return "envelope " + e.Problem
	}
	return e.Field + " " + e.Problem
}

// Encode is the envelope as JSON. SpecVersion is filled in.
func (e Envelope) Encode() ([]byte, error) {
	e.SpecVersion = SpecVersion
	b, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("encode envelope %s: %w", e.ID, err)
	}
	return b, nil
}

// Decode reads an envelope of at most MaxEnvelope bytes. The error is an
// *EnvelopeError, and with it comes the ID if there is one, so that the sender
// can be answered. Attributes that we do not know are ignored, as CloudEvents
// asks.
func Decode(b []byte) (Envelope, error) { return decode(b, MaxEnvelope) }

// DecodeLarge is Decode for a schedule or a configuration, which may have MaxLarge bytes.
func DecodeLarge(b []byte) (Envelope, error) { return decode(b, MaxLarge) }

func decode(b []byte, limit int) (Envelope, error) {
	var e Envelope
	if len(b) > limit {
		return onlyID(b), &EnvelopeError{"", fmt.Sprintf("has %d bytes, at most %d are read", len(b), limit)}
	}
	if b = bytes.TrimSpace(b); len(b) == 0 || b[0] != '{' {
		return e, &EnvelopeError{"", "is not a JSON object"}
	}
	if err := json.Unmarshal(b, &e); err != nil {
		return onlyID(b), explain(err)
	}
	if err := e.check(); err != nil {
		return onlyID(b), err
	}
	return e, nil
}

// onlyID is what is left of an envelope that cannot be accepted: its ID, if that
// can be. It is looked for up to where the envelope is broken.
func onlyID(b []byte) Envelope {
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return Envelope{}
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			break
		}
		if name != "id" {
			if d.Decode(new(json.RawMessage)) != nil {
				break
			}
			continue
		}
		if id, err := d.Token(); err == nil {
			if id, ok := id.(string); ok && len(id) <= MaxTopic {
				return Envelope{ID: id}
			}
		}
		break
	}
	return Envelope{}
}

// explain turns a decoder's error into one that names the attribute.
func explain(err error) error {
	var wrong *json.UnmarshalTypeError
	var when *time.ParseError
	switch {
	case errors.As(err, &wrong) && wrong.Field != "":
		return &EnvelopeError{wrong.Field, "is a JSON " + wrong.Value + ", want " + wants(wrong.Field)}
	case errors.As(err, &when):
		return &EnvelopeError{"time", "is not a time like 2026-11-21T09:30:00Z"}
	case errors.As(err, new(*json.SyntaxError)):
		return &EnvelopeError{"", "is not JSON: " + err.Error()}
	}
	// What is left comes from the one attribute with a decoder of its own.
	return &EnvelopeError{"time", "is not a time like 2026-11-21T09:30:00Z"}
}

func wants(field string) string {
	if field == "sequence" || field == "counter" {
		return "a whole number from 1"
	}
	return "a text"
}

func (e Envelope) check() error {
	if e.SpecVersion != SpecVersion {
		return &EnvelopeError{"specversion", fmt.Sprintf("is %q, want %q", e.SpecVersion, SpecVersion)}
	}
	for _, f := range []struct {
		name, value string
		required    bool
	}{
		{"id", e.ID, true}, {"source", e.Source, true}, {"type", e.Type, true},
		{"subject", e.Subject, false}, {"bootid", e.BootID, false}, {"timetrust", e.TimeTrust, false},
	} {
		if f.value == "" && f.required {
			return &EnvelopeError{f.name, "is missing"}
		}
		if len(f.value) > MaxTopic {
			return &EnvelopeError{f.name, fmt.Sprintf("has %d bytes, at most %d are read", len(f.value), MaxTopic)}
		}
	}
	return nil
}
