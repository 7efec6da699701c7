package cloudlink

import (
	"context"
	"fmt"
	"time"

	"roomgate/agent/eventlog"
	"roomgate/cloud"
	"roomgate/store"
)

// forgetWithin is how soon it is stored how far the cloud has acknowledged, while
// that is little. Each time costs the card two pages or more; after a power cut the
// cloud gets what it acknowledged since once more, with the same ids.
const forgetWithin = 10 * time.Second

// AckedCursor names how far the cloud has acknowledged the log.
const AckedCursor eventlog.Cursor = "acked"

// outbox is the log as the uplink sees it: what is after the acked cursor
// still has to go up.
type outbox struct{ l *Link }

// Next returns at most limit messages that are not acknowledged, oldest first.
func (o outbox) Next(after uint64, limit int) ([]cloud.Outgoing, error) {
	acked, err := o.Acked()
	if err != nil {
		return nil, err
	}
	return o.rows(max(after, acked), limit)
}

// rows returns at most limit messages of the log, acknowledged or not.
func (o outbox) rows(after uint64, limit int) ([]cloud.Outgoing, error) {
	var out []cloud.Outgoing
	page, err := o.l.o.Events.Page(after, limit)
	if err != nil {
		return nil, err
	}
	for _, item := range page {
		m, err := o.l.message(item)
		if err != nil {
			return nil, err
		}
		out = append(out, cloud.Outgoing{Seq: item.Seq, Message: m})
	}
	return out, nil
}

// Acked is how far the cloud has acknowledged.
func (o outbox) Acked() (seq uint64, err error) {
	err = o.l.o.DB.View(func(tx *store.Tx) error {
		seq, _, err = AckedCursor.Get(tx)
		return err
	})
	return seq, err
}

// Forget moves the acked cursor up to a sequence, never back and never beyond
// the log. The rows stay for replay until the log needs their place.
func (o outbox) Forget(ctx context.Context, upTo uint64) error {
	return o.l.o.DB.Update(ctx, func(tx *store.Tx) error {
		acked, _, err := AckedCursor.Get(tx)
		if err != nil {
			return err
		}
		if upTo = min(upTo, eventlog.End(tx)); upTo <= acked {
			return nil
		}
		return AckedCursor.Put(tx, upTo)
	})
}

// message makes the envelope of a row; it is the same each time.
func (l *Link) message(item store.Item[eventlog.Row]) (cloud.Message, error) {
	r := item.Value
	payload, err := cloud.Envelope{
		ID: r.ID(item.Seq), Source: l.source(), Type: cloud.TypeOf(r.Type), Subject: r.Subject(), Time: r.Time(),
		Sequence: item.Seq, BootID: r.Boot, TimeTrust: string(r.Trust()), Data: r.Data,
	}.Encode()
	if err != nil {
		return cloud.Message{}, fmt.Errorf("encode row %d of the log: %w", item.Seq, err)
	}
	return cloud.Message{Topic: l.topics.Up(r.Level()), Payload: payload, QoS: 1}, nil
}

// Acked is how far the cloud has acknowledged the log. The stored position may
// be forgetWithin behind.
func (l *Link) Acked() (seq uint64, err error) {
	seq, err = outbox{l}.Acked()
	if u := l.uplink.Load(); u != nil {
		seq = max(seq, u.Stats().Acked)
	}
	return seq, err
}
