package agent

import (
	"crypto/sha256"
	"errors"

	"roomgate/agent/config"
	"roomgate/agent/schedule"
	"roomgate/drivers"
	"roomgate/store"
)

// readCodes reads the unlock codes by space. One that cannot be read costs
// nothing else.
func (a *Agent) readCodes(tx *store.Tx) map[string][]*storedUnlockCode {
	codes := map[string][]*storedUnlockCode{}
	for _, c := range unlockCodes.All(tx) {
		if len(c.Hash) == sha256.Size {
			codes[c.SpaceID] = append(codes[c.SpaceID], &c)
		}
	}
	if err := tx.Err(); err != nil {
		a.log.Error("an unlock code cannot be read and holds no more: set it anew", "error", err)
	}
	return codes
}

// loadSpace makes a space with its room, its devices, and what is stored of them.
func (a *Agent) loadSpace(tx *store.Tx, c config.Space, r *schedule.Room, codes map[string][]*storedUnlockCode) (*space, error) {
	l := newLasting(r)
	l.codes.book.Store(newCodes(codes[c.ID]))
	s := newSpace(c, l)
	for _, dc := range c.Devices {
		d, err := a.loadDevice(tx, s, dc)
		if err != nil {
			return nil, err
		}
		s.add(d)
	}
	return s, nil
}

// loadDevice makes a device with what was last known and set of it.
func (a *Agent) loadDevice(tx *store.Tx, s *space, c config.Device) (*device, error) {
	stored, err := readings.Get(tx, c.ID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	if c.Type != drivers.TypeLock {
		d := newDevice(a, s, c, stored, digitsOnly)
		return d, d.loadSettings(tx)
	}
	k := newKeypad(a.Events)
	s.keypad, k.door = k, newDevice(a, s, c, stored, k.typed)
	k.load(tx, a.moment())
	return k.door, k.door.loadSettings(tx)
}
