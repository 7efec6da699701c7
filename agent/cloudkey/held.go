package cloudkey

import (
	"errors"
	"maps"
	"slices"
	"sync"

	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/store"
)

// held are the counters that were used while the disk did not take them. They stay until the process ends: what is
// stored later is joined with them, and joining is the same however often it happens.
type held struct {
	mu    sync.Mutex
	byKey map[string]counted
}

// join adds what another has counted.
func (c *counted) join(other counted) {
	if other.Highest > c.Highest {
		*c, other = other, *c
	}
	up := c.Highest - other.Highest
	c.Below |= other.Below << up // none is left of 64 and more
	if other.Highest > 0 && 0 < up && up <= width {
		c.Below |= 1 << (up - 1)
	}
	c.At = max(c.At, other.At)
}

// Counters are what the commands use.
func (si *Signers) Counters() device.Counters {
	return device.Counters{
		Use:    func(tx *store.Tx, c device.Count) error { return si.count(tx, c.Key, c.N) },
		Hold:   si.hold,
		Settle: si.settle,
	}
}

// counted is what is known of a key: what is stored, and what the disk did not take.
func (si *Signers) counted(tx *store.Tx, key string) (counted, error) {
	si.held.mu.Lock()
	defer si.held.mu.Unlock()
	return si.held.with(tx, key)
}

// with joins what is stored of a key. The caller has the lock.
func (h *held) with(tx *store.Tx, key string) (counted, error) {
	c, err := counters.Get(tx, key)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return c, err
	}
	c.join(h.byKey[key])
	return c, nil
}

// hold uses a counter in memory, if keep succeeds.
func (si *Signers) hold(c device.Count, keep func() error) error {
	si.held.mu.Lock()
	defer si.held.mu.Unlock()
	var known counted
	err := si.o.DB.View(func(tx *store.Tx) (err error) { known, err = si.held.with(tx, c.Key); return err })
	if err != nil {
		si.o.Log.Error("the counters of the cloud's door commands cannot be read", "key", c.Key, "error", err)
		return problem.New(problem.NotNow, "counter", "cannot be compared: the gateway's storage does not give those that were used, see roomgate doctor")
	}
	if err := known.use(c.N); err != nil {
		return err
	}
	if err := keep(); err != nil {
		return err
	}
	known.At = si.o.Clock.Lived()
	if len(si.held.byKey) >= mostCounters {
		held := si.IDs()
		maps.DeleteFunc(si.held.byKey, func(key string, _ counted) bool { return !slices.Contains(held, key) })
	}
	si.held.byKey[c.Key] = known
	return nil
}

// settle stores a counter that was held.
func (si *Signers) settle(tx *store.Tx, c device.Count) error {
	known, err := si.counted(tx, c.Key)
	if err != nil {
		return err
	}
	_ = known.use(c.N) // it was, here or before the start
	return si.put(tx, c.Key, known)
}
