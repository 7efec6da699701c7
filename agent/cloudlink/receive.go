package cloudlink

import (
	"context"
	"errors"
	"fmt"

	"roomgate/agent/problem"
	"roomgate/cloud"
	"roomgate/store"
)

// Receive sorts what came down. A message that cannot be understood is acknowledged, as it
// would not be better the second time: it gets a receipt if it has an id, else
// it is dropped.
//
// A message without room is refused, and so acknowledged: it would hold back
// the next message, which may open a door. The sender hears of it. While the disk takes
// nothing, a message that cannot be stored is not acknowledged. The connection stays
// in both cases: another one would not help.
func (l *Link) Receive(ctx context.Context, m cloud.Message) error {
	err := l.receive(ctx, m)
	if err != nil && l.o.DB.Condition().Stopped() {
		l.o.Log.Warn("a message cannot be stored, it is not acknowledged", "topic", m.Topic, "error", err)
		return fmt.Errorf("%w: %w", cloud.ErrUnacknowledged, err)
	}
	return err
}

func (l *Link) receive(ctx context.Context, m cloud.Message) error {
	up, level, rest, ok := l.topics.Parse(m.Topic)
	level = cloud.PartLevel(level)
	take := l.down[level]
	if !ok || up || rest != "" || take == nil {
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
	err = take(ctx, e)
	if full(err) && !l.o.DB.Condition().Stopped() {
		return l.o.Refuse(ctx, level, e, err)
	}
	return err
}

// full says that there is no room for a message, on the disk or among its like.
func full(err error) bool {
	refusal := problem.As(err)
	return errors.Is(err, store.ErrFull) || refusal != nil && refusal.Code == problem.Full
}

// read decodes a message of a level, out of its signed envelope if it has one.
func (l *Link) read(level string, m cloud.Message) (cloud.Envelope, error) {
	if !cloud.IsSigned(m.Payload) {
		return decode(level, m, m.Payload)
	}
	s, err := cloud.ReadSigned(m.Payload)
	if err != nil {
		return cloud.Envelope{ID: cloud.SignedID(m.Payload), Retained: m.Retained}, err
	}
	e, wrong := decode(level, m, s.Body)
	by, err := l.o.Verify(level, s)
	switch {
	case err != nil: // only its id is used, for the answer
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
	if level == cloud.LevelSchedule || level == cloud.LevelConfig {
		decode = cloud.DecodeLarge
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
		return l.o.Refuse(ctx, cloud.LevelAck, e, err)
	}
	if data.Sequence == nil {
		return l.o.Refuse(ctx, cloud.LevelAck, e, problem.New(problem.Invalid, "sequence", "is missing"))
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
		return l.o.Refuse(ctx, cloud.LevelReplay, e, err)
	}
	if data.From == 0 || data.To != 0 && data.To < data.From {
		return l.o.Refuse(ctx, cloud.LevelReplay, e, problem.New(problem.Invalid, "data", "is no range: want from, and to not before it"))
	}
	if !l.uplink.Load().Replay(data.From, data.To) {
		return l.o.Refuse(ctx, cloud.LevelReplay, e, problem.New(problem.Unavailable, "", "too many replays wait: ask again when one is through"))
	}
	return nil
}
