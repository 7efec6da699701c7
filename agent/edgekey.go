package agent

import (
	"crypto/sha256"

	"roomgate/agent/access"
	"roomgate/agent/auth"
)

// KindEdge is the key that an edge device got when it claimed its meeting space.
const KindEdge = "edge"

// edgePermissions are what an edge device may in its meeting space, as far as
// there is an operation for edge devices.
const edgePermissions = auth.DevicesRead | auth.DevicesWrite | auth.SpacesRead

// keyHash is that of a secret with 256 random bits, which tells nothing about it.
type keyHash [sha256.Size]byte

// storedEdge is an edge device with its key.
type storedEdge struct {
	EdgeDevice
	Key []byte `json:"key_hash,omitempty"` // none: it was registered by an earlier version
}

func newStoredEdge(d EdgeDevice, secret string) storedEdge {
	hash := sha256.Sum256([]byte(secret))
	return storedEdge{d, hash[:]}
}

// become replaces the edge devices, and with them the keys that are good.
func (e *edges) become(known map[string]storedEdge) {
	byKey := map[keyHash]EdgeDevice{}
	for _, d := range known {
		if len(d.Key) == sha256.Size {
			byKey[keyHash(d.Key)] = d.EdgeDevice
		}
	}
	e.known = known
	e.byKey.Store(&byKey)
}

// principal says which edge device has that secret.
func (e *edges) principal(secret string) (access.Principal, bool) {
	d, ok := (*e.byKey.Load())[sha256.Sum256([]byte(secret))]
	if !ok {
		return access.Principal{}, false
	}
	return access.Principal{ID: d.ID, Name: d.Name, Kind: KindEdge, SpaceID: d.SpaceID, Permissions: edgePermissions}, true
}
