package backend

import (
	"context"
	"encoding/json"

	"roomgate/cloud"
)

// Configuration is what the cloud manages of a gateway. A member that is nil stays
// as it is there. Any other is all that the cloud manages of its kind: the gateway
// removes what it does not name. asyncapi.yaml has the fields of each.
type Configuration struct {
	// Revision rises from one configuration to the next. A gateway refuses one
	// that does not.
	Revision    uint64            `json:"revision"`
	Spaces      []json.RawMessage `json:"spaces,omitzero"`
	Devices     []json.RawMessage `json:"devices,omitzero"`
	Permissions []json.RawMessage `json:"permissions,omitzero"`
	Users       []json.RawMessage `json:"users,omitzero"`
	Keys        []json.RawMessage `json:"keys,omitzero"` // with the hashes of their secrets
	UnlockCodes []json.RawMessage `json:"unlock_codes,omitzero"`
	Rules       []json.RawMessage `json:"rules,omitzero"`
	Update      *Update           `json:"update,omitempty"` // the release to have
	// SigningKeys are those that the gateway believes from now on, 1 to 4; nil: those
	// that it holds. They are taken only of a backend that signs.
	SigningKeys []SigningKey `json:"signing_keys,omitempty"`
	// ReconnectSpread is over how many seconds the gateways come back to a broker, up to 60;
	// 0: as each is configured; nil: as it was.
	ReconnectSpread *int `json:"reconnect_spread_s,omitempty"`
}

// Update is where the signed bundle of a release is.
type Update struct {
	URL string `json:"url"` // https; each address is fetched once; empty: none
}

// Configure sends a configuration, which the broker keeps for the gateway, and
// returns the message's id, which the receipt names. A gateway applies it whole
// or not at all. It waits as Push does.
func (b *Backend) Configure(ctx context.Context, gateway string, c Configuration) (id string, err error) {
	return b.pushParts(ctx, gateway, cloud.LevelConfig, "", c)
}

// ConfigureAs is Configure under an id: who does not know whether it went sends it again
// under the same one, and the gateway takes it once.
func (b *Backend) ConfigureAs(ctx context.Context, gateway, id string, c Configuration) error {
	_, err := b.pushParts(ctx, gateway, cloud.LevelConfig, id, c)
	return err
}
