package cloudlink

import (
	"context"
	"encoding/json"
	"time"

	"github.com/oklog/ulid/v2"

	"roomgate/cloud"
)

// sendTimeout bounds a message that is not in the log.
const sendTimeout = 5 * time.Second

// Send publishes a message that is not in the log and worth nothing late: it is
// not kept. Its sequence is the log's last one: what came before it; a receipt has none, as one with a sequence is a row
// of the log. A space, if one is named, is the last part of the topic. It says whether the broker has it.
func (l *Link) Send(ctx context.Context, level, space string, retained bool, data any) (sent bool) {
	m, err := l.live(level, space, retained, data)
	if err == nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, sendTimeout)
		defer cancel()
		err = l.link.Load().Publish(ctx, m)
	}
	if err != nil && ctx.Err() == nil {
		l.o.Log.Debug("a message was not sent, the next one will be", "level", level, "error", err)
	}
	return err == nil
}

// Clear takes back what the broker keeps of a space. It also works while the
// building ends.
func (l *Link) Clear(ctx context.Context, level, space string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendTimeout)
	defer cancel()
	if err := l.link.Load().Publish(ctx, cloud.Message{Topic: l.topics.Up(level, space), QoS: 1, Retained: true}); err != nil {
		l.o.Log.Debug("cannot clear the retained messages of a removed space at the broker", "level", level, "meeting_space_id", space, "error", err)
	}
}

// live is a message of this moment.
func (l *Link) live(level, space string, retained bool, data any) (cloud.Message, error) {
	raw, err := json.Marshal(data)
	if err != nil {
		return cloud.Message{}, err
	}
	last := uint64(0)
	if level != cloud.LevelReceipt {
		if last, err = l.o.Events.Last(); err != nil {
			return cloud.Message{}, err
		}
	}
	payload, err := cloud.Envelope{ID: ulid.Make().String(), Source: l.source(),
		Type: cloud.TypeOf(level), Subject: space, Time: time.Now().UTC(), Sequence: last,
		BootID: l.o.Events.Boot(), TimeTrust: string(l.o.Clock.Trust()), Data: raw}.Encode()
	topic := l.topics.Up(level)
	if space != "" {
		topic = l.topics.Up(level, space)
	}
	return cloud.Message{Topic: topic, Payload: payload, QoS: 1, Retained: retained}, err
}

// source is who the gateway is in an envelope.
func (l *Link) source() string { return "roomgate/" + l.o.Gateway }
