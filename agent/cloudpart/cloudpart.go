// Package cloudpart joins messages that the cloud sends in parts, because brokers take
// no large ones. A message is handed on whole or not at all. A part is stored before it
// is acknowledged, and sealed: a configuration has keys and codes that open doors.
package cloudpart

import (
	"cmp"
	"context"
	"encoding/json"

	"roomgate/agent/auth"
	"roomgate/agent/cloudcommand"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/cloud"
	"roomgate/store"
)

// Options are what the parts stand on.
type Options struct {
	DB       *store.DB
	Events   *eventlog.Log
	Keys     *auth.Keys
	Commands *device.Commands // answers each part
	// Space is the refusal of a meeting space that the building does not have; nil: it has it.
	Space func(id string) *problem.Error
	// Budget refuses a part if too many came that nobody has signed; nil: nothing does.
	Budget func(e cloud.Envelope) *problem.Error
}

// Parts are the messages of which some parts have come.
type Parts struct {
	o    Options
	wear wear
}

// New prepares the parts. They read what is stored when the next part comes.
func New(o Options) *Parts { return &Parts{o, newWear()} }

// maxPart is how many bytes of data one part may have. The store keeps rows of 4 MiB, and a
// part is there to be small.
const maxPart = 1 << 20

// Handler takes a message; cloudlink calls it.
type Handler = func(context.Context, cloud.Envelope) error

// Taker takes a whole message and answers it. The refusal is what it was answered with.
type Taker = func(context.Context, cloud.Envelope) (refusal *problem.Error, err error)

// head says to which message a part belongs.
type head struct {
	cloud.Part
	Revision uint64 `json:"revision"`
	Kind     string `json:"kind"`
	Space    string `json:"meeting_space_id"`
}

// check refuses a part of no message that could be taken.
func (h head) check() error {
	switch {
	case h.Of < 1 || h.Of > cloud.MaxParts:
		return problem.New(problem.Invalid, "of", "is out of range: want 1 to %d", cloud.MaxParts)
	case h.Part.Part < 1 || h.Part.Part > h.Of:
		return problem.New(problem.Invalid, "part", "is out of range: want 1 to %d, as of says", h.Of)
	case h.Whole == "" || len(h.Whole) > 64:
		return problem.New(problem.Invalid, "whole", "has %d bytes: want 1 to 64, the same in all parts of a message and in no other", len(h.Whole))
	case len(h.Kind) > 64:
		return problem.New(problem.Invalid, "kind", "has %d bytes: at most 64 go", len(h.Kind))
	case len(h.Space) > 64:
		return problem.New(problem.Invalid, "meeting_space_id", "is no id of a meeting space")
	}
	return nil
}

// Join collects the parts of messages of a level and hands a message on when all of its
// parts are there. A message without parts is handed on at once. Each is about a meeting space.
func (p *Parts) Join(level string, next Taker) Handler { return p.join(level, false, next) }

// JoinKept is Join for a level whose messages the broker keeps and sends at each
// connection: their parts stay here too, so that none is written twice. They are about no
// meeting space.
func (p *Parts) JoinKept(level string, next Taker) Handler { return p.join(level, true, next) }

func (p *Parts) join(level string, kept bool, next Taker) Handler {
	return func(ctx context.Context, e cloud.Envelope) error {
		var h head
		if err := json.Unmarshal(e.Data, &h); err != nil || h.Part == (cloud.Part{}) {
			_, err := next(ctx, e) // who takes it knows all that may be wrong
			return err
		}
		if refusal := p.refusal(e, h, kept); refusal != nil {
			return cloudcommand.RefuseMessage(ctx, p.o.Commands, e, refusal)
		}
		return p.take(p.collecting(ctx, e, h, level, kept), kept, next)
	}
}

// refusal is why a part cannot be taken, or nil.
func (p *Parts) refusal(e cloud.Envelope, h head, kept bool) *problem.Error {
	if err := h.check(); err != nil {
		return cloudcommand.AsError(err)
	}
	if len(e.Data) > maxPart {
		return problem.New(problem.Invalid, "part", "has %d bytes: want %d at most", len(e.Data), maxPart)
	}
	if kept {
		return nil // a configuration is of no meeting space, whatever it names
	}
	return p.o.Space(h.Space)
}

// collecting is where a part goes: beside those of its sender and level, and of its meeting space.
func (p *Parts) collecting(ctx context.Context, e cloud.Envelope, h head, level string, kept bool) *collecting {
	line := cmp.Or(e.SignedBy, "-") + "/" + level + "/"
	base := line
	if !kept {
		base += h.Space + "/"
	}
	return &collecting{Parts: p, ctx: ctx, e: e, head: h, line: line, base: base, key: base + h.Whole}
}

// take stores a part, and hands the message on if it was the last one.
func (p *Parts) take(c *collecting, kept bool, next Taker) error {
	whole, err := c.collect()
	if refusal := problem.As(err); refusal != nil && !refusal.Code.Unstored() {
		return cloudcommand.RefuseMessage(c.ctx, p.o.Commands, c.e, refusal)
	}
	if err != nil || whole == nil {
		return err
	}
	refusal, err := next(c.ctx, *whole)
	if err != nil {
		return err
	}
	return c.settle(refusal == nil, kept)
}
