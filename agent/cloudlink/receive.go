package cloudlink

import (
	"context"
	"maps"

	"roomgate/agent/problem"
	"roomgate/cloud"
)

// Receive sorts what came down. What cannot be understood is acknowledged, as it
// would not be better the second time: it gets a receipt if it has an id, else
// it is dropped.
func (l *Link) Receive(ctx context.Context, m cloud.Message) error {
	up, level, _, ok := l.topics.Parse(m.Topic)
	take := l.down[level]
	if !ok || up || take == nil {
		l.o.Log.Warn("a message on an unknown topic was dropped", "topic", m.Topic)
		return nil
	}
	e, err := l.read(level, m)
	switch {
	case err != nil && e.ID == "":
		l.o.Log.Warn("a message that cannot be understood was dropped", "topic", m.Topic, "error", err)
		return nil
	case err != nil:
		return l.o.Refuse(ctx, level, e, err)
	}
	if !m.Retained {
		l.o.Witness(e)
	}
	return take(ctx, e)
}

// read decodes a message of a level, out of its signed envelope if it has one.
func (l *Link) read(level string, m cloud.Message) (cloud.Envelope, error) {
	if !cloud.IsSigned(m.Payload) {
		return decode(level, m, m.Payload)
	}
	s, err := cloud.ReadSigned(m.Payload)
	if err != nil {
		return cloud.Envelope{}, err
	}
	e, wrong := decode(level, m, s.Body)
	by, err := l.o.Verify(level, s)
	switch {
	case err != nil: // nothing of it counts but who is to be answered
		return cloud.Envelope{ID: e.ID, Retained: m.Retained}, err
	case wrong != nil:
		return e, wrong
	case e.Subject != m.Topic:
		return cloud.Envelope{ID: e.ID, Retained: m.Retained}, problem.New(problem.Forbidden, "subject", "is %q: want the topic on which the signed message comes", e.Subject)
	}
	e.SignedBy = by
	return e, nil
}

// decode reads the envelope of a message.
func decode(level string, m cloud.Message, body []byte) (cloud.Envelope, error) {
	decode := cloud.Decode
	if level == "schedule" || level == "config" {
		decode = cloud.DecodeSchedule
	}
	e, err := decode(body)
	e.Retained = m.Retained
	if err == nil {
		err = cloud.CheckAttributes(body)
	}
	if err == nil && !cloud.TypeFits(level, e.Type) {
		err = problem.New(problem.Invalid, "type", "is %q, want %q on this topic", e.Type, cloud.TypeOf(level))
	}
	return e, err
}

// takeAck forgets what the cloud has.
func (l *Link) takeAck(ctx context.Context, e cloud.Envelope) error {
	var data struct {
		Sequence *uint64 `json:"sequence"`
	}
	if err := e.DataInto(&data); err != nil {
		return l.o.Refuse(ctx, "ack", e, err)
	}
	if data.Sequence == nil {
		return l.o.Refuse(ctx, "ack", e, problem.New(problem.Invalid, "sequence", "is missing"))
	}
	l.uplink.Load().Acked(*data.Sequence)
	return nil
}

// takeReplay sends a part of the log again.
func (l *Link) takeReplay(ctx context.Context, e cloud.Envelope) error {
	var data struct {
		From uint64 `json:"from"`
		To   uint64 `json:"to"`
	}
	if err := e.DataInto(&data); err != nil {
		return l.o.Refuse(ctx, "replay", e, err)
	}
	if data.From == 0 || data.To != 0 && data.To < data.From {
		return l.o.Refuse(ctx, "replay", e, problem.New(problem.Invalid, "data", "is no range: want from, and to not before it"))
	}
	if !l.uplink.Load().Replay(data.From, data.To) {
		return l.o.Refuse(ctx, "replay", e, problem.New(problem.Unavailable, "", "too many replays wait: ask again when one is through"))
	}
	return nil
}

// WithOwn adds the levels that the link itself takes, without their handlers.
func WithOwn(down map[string]Handler) map[string]Handler {
	all := map[string]Handler{"ack": nil, "replay": nil}
	maps.Copy(all, down)
	return all
}
