package edge

import (
	"crypto/sha256"

	"roomgate/agent/auth"
)

// Permissions are what an edge device may in its meeting space, as far as there
// is an operation for edge devices.
const Permissions = auth.DevicesRead | auth.DevicesWrite | auth.SpacesRead

// keyHash is that of a secret with 256 random bits, which tells nothing about it.
type keyHash [sha256.Size]byte

// storedDevice is an edge device with its key.
type storedDevice struct {
	Device
	Key []byte `json:"key_hash,omitempty"` // none: it was registered by an earlier version
}

func newStoredDevice(d Device, secret string) storedDevice {
	hash := sha256.Sum256([]byte(secret))
	return storedDevice{d, hash[:]}
}

// become replaces the edge devices, and with them the keys that are good.
func (b *Devices) become(known map[string]storedDevice) {
	byKey := map[keyHash]Device{}
	for _, d := range known {
		if len(d.Key) == sha256.Size {
			byKey[keyHash(d.Key)] = d.Device
		}
	}
	b.known = known
	b.byKey.Store(&byKey)
}

// ByKey says which edge device has that secret, without what it said of itself.
// It takes the same time for a wrong secret as for a right one.
func (b *Devices) ByKey(secret string) (Device, bool) {
	d, ok := (*b.byKey.Load())[sha256.Sum256([]byte(secret))]
	return d, ok
}
