package agent

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"roomgate/agent/config"
	"roomgate/drivers"
	"roomgate/store"
)

// kept is what the store has of spaces, by their ids.
type kept struct {
	bookings map[string][]storedBooking
	codes    map[string][]*storedUnlockCode
}

// readKept reads bookings and unlock codes. What cannot be read costs nothing
// else.
func (a *Agent) readKept(tx *store.Tx) kept {
	k := kept{map[string][]storedBooking{}, map[string][]*storedUnlockCode{}}
	for _, b := range bookings.All(tx) {
		k.bookings[b.SpaceID] = append(k.bookings[b.SpaceID], b)
	}
	if err := tx.Err(); err != nil {
		a.log.Error("a booking cannot be read and is left out, the cloud's next snapshot brings it back", "error", err)
	}
	for _, c := range unlockCodes.All(tx) {
		if len(c.Hash) == sha256.Size {
			k.codes[c.SpaceID] = append(k.codes[c.SpaceID], &c)
		}
	}
	if err := tx.Err(); err != nil {
		a.log.Error("an unlock code cannot be read and holds no more: set it anew", "error", err)
	}
	return k
}

// loadSpace makes a space with its devices, and what is stored of them.
func (a *Agent) loadSpace(tx *store.Tx, c config.Space, k kept) (*space, error) {
	set, err := plans.Get(tx, c.ID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("read the plan of %s: %w", c.Name, err)
	}
	l := newLasting(newPlan(c, set))
	l.plan.load(k.bookings[c.ID])
	l.codes.book.Store(newCodes(k.codes[c.ID]))
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
	d := newDevice(a, s, c, stored)
	if c.Type == drivers.TypeLock {
		d.loadKeypad(tx, a.moment())
	}
	return d, d.loadSettings(tx)
}
