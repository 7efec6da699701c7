package backend

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/oklog/ulid/v2"

	"roomgate/cloud"
)

// Part is one message of several, or the only one.
type Part struct {
	ID, Topic string
	Data      json.RawMessage
}

// Parts are the messages that bring data to a gateway's down/level: one, or several if
// that would be too large for a broker, or for the signature of a configuration that is
// signed. The first has the id, under which receipts tell how the whole fares; the others
// have it with their number. The same id makes the same parts of the same data.
func Parts(gateway, level, id string, data json.RawMessage, signed bool) ([]Part, error) {
	limit := cloud.MaxPart
	if signed && level == cloud.LevelConfig {
		limit = cloud.MaxSignedPart
	}
	cut, err := cloud.Split(data, id, limit)
	if err != nil {
		return nil, fmt.Errorf("send %s to %s: %w", level, gateway, err)
	}
	topics := cloud.Topics{Gateway: gateway}
	parts := make([]Part, len(cut))
	for i := range cut {
		parts[i] = Part{ID: id, Topic: topics.Down(level), Data: cut[i]}
		if i > 0 {
			parts[i].ID = fmt.Sprint(id, "-", i+1)
		}
		if level == cloud.LevelConfig {
			parts[i].Topic = topics.PartTopic(i + 1)
		}
	}
	return parts, nil
}

// pushParts is Push of data that may be too large for a broker, under an id, or one that
// it makes.
func (b *Backend) pushParts(ctx context.Context, gateway, level, id string, data any) (string, error) {
	if !cloud.ValidGateway(gateway) {
		return "", noGateway(gateway)
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return "", fmt.Errorf("encode %s: %w", level, err)
	}
	if id == "" {
		id = ulid.Make().String()
	}
	parts, err := Parts(gateway, level, id, raw, b.o.Signer != nil)
	if err != nil {
		return "", err
	}
	for _, part := range parts {
		m, err := b.envelope(level, part)
		if err != nil {
			return id, err
		}
		if err := b.deliver(ctx, gateway, level, m); err != nil {
			return id, err
		}
	}
	return id, nil
}
