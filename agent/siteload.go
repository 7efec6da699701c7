package agent

import (
	"crypto/sha256"

	"roomgate/agent/config"
	"roomgate/agent/device"
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
	s := newSpace(c, l, a.clock.Clock)
	for _, dc := range c.Devices {
		d, err := a.loadDevice(tx, s, dc)
		if err != nil {
			return nil, err
		}
		s.add(d)
	}
	return s, nil
}

// loadDevice makes a device with what was last known and set of it, and the
// keypad of the space if it is a lock.
func (a *Agent) loadDevice(tx *store.Tx, s *space, c config.Device) (*device.Device, error) {
	log := a.log.With("meeting_space", s.Name, "device", c.ID)
	if c.Type != drivers.TypeLock {
		return device.Load(tx, deviceOptions(a, s, c, log, digitsOnly))
	}
	k := newKeypad(a.Events, log)
	d, err := device.Load(tx, deviceOptions(a, s, c, log, k.typed))
	if err != nil {
		return nil, err
	}
	s.keypad, k.door = k, d
	k.load(tx, a.moment())
	return d, nil
}
