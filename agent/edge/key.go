package edge

import (
	"crypto/sha256"

	"roomgate/agent/auth"
)

// Permissions are what an edge device of a kind may in its meeting space, as far as
// there is an operation for edge devices. A display and a phone book for whoever
// stands there; a phone switches nothing.
func Permissions(kind string) auth.Set {
	switch kind {
	case Display:
		return auth.DevicesRead | auth.DevicesWrite | auth.SpacesRead | auth.BookingsRead | auth.BookingsWrite
	case Phone:
		return auth.SpacesRead | auth.BookingsRead | auth.BookingsWrite
	}
	return auth.DevicesRead | auth.DevicesWrite | auth.SpacesRead
}

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

// inForce is the edge devices as requests ask for them, without what they said of
// themselves. It is replaced whole, never changed, so that nobody waits for a disk.
type inForce struct {
	byKey map[keyHash]Device
	byID  map[string]Device
}

// become replaces the edge devices, and with them the keys that are good. The phones
// of a display that is gone end with it, and so do its codes.
func (ds *Devices) become(known map[string]storedDevice) {
	next := inForce{byKey: map[keyHash]Device{}, byID: map[string]Device{}}
	for id, d := range known {
		next.byID[id] = d.Device
		if len(d.Key) == sha256.Size {
			next.byKey[keyHash(d.Key)] = d.Device
		}
	}
	ds.known = known
	ds.now.Store(&next)
	gone := func(spaceID, displayID string) bool { return next.byID[displayID].SpaceID != spaceID }
	ds.prune(func(c openCode) bool { return c.phone && gone(c.spaceID, c.by) })
	ds.phones.end(func(p phone) bool { return gone(p.SpaceID, p.by) })
}

// ByKey says which edge device has that secret, without what it said of itself.
// It takes the same time for a wrong secret as for a right one.
func (ds *Devices) ByKey(secret string) (Device, bool) {
	hash := keyHash(sha256.Sum256([]byte(secret)))
	if d, ok := ds.now.Load().byKey[hash]; ok {
		return d, true
	}
	return ds.phone(func(p phone) bool { return p.key == hash })
}
