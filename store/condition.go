package store

import (
	"errors"
	"fmt"
	"time"

	"roomgate/store/disk"
)

// Condition is how the disk is, as the last writes have found it.
type Condition struct {
	State disk.State
	Since time.Time // with a monotonic reading; zero while it takes everything
	Err   error     // what the disk said; nil while it takes everything
}

// Condition tells how the disk is. It waits for no disk.
func (db *DB) Condition() Condition {
	if err := db.writes.failure(); err != nil {
		return Condition{disk.StateOf(err), db.writes.since, err} // set once, before failed
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	switch {
	case db.count.unread != nil:
		return Condition{disk.Failing, db.count.unreadSince, db.count.unread}
	case db.count.full != nil:
		return Condition{disk.Full, db.count.fullSince, db.count.full}
	}
	if since, err := db.reserve.Lacks(); err != nil {
		return Condition{disk.Full, since, fmt.Errorf("%s: %w", disk.NoReserve, err)}
	}
	return Condition{State: disk.Taking}
}

// Stopped says that nothing may be written before the next Open.
func (c Condition) Stopped() bool {
	return c.State == disk.Failing || c.State == disk.ReadOnly || errors.Is(c.Err, ErrFailed)
}

// Unstored says of an error of Update that the disk is to blame and not the change: nothing was stored.
func Unstored(err error) bool { return errors.Is(err, ErrFull) || errors.Is(err, ErrFailed) }

// errDisk marks a failure of the disk: what is in memory can be read on.
var errDisk = errors.New("the disk does not take it")

// noteRoom keeps in mind whether the disk had room.
func (c *counters) noteRoom(err error) {
	if err == nil {
		c.full = nil
	} else if errors.Is(err, ErrFull) && c.full == nil {
		c.full, c.fullSince = err, time.Now()
	}
}

// noteUnread keeps in mind whether the whole file could be read.
func (db *DB) noteUnread(err error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if err == nil {
		db.count.unread = nil
	} else if db.count.unread == nil {
		db.count.unread, db.count.unreadSince = err, time.Now()
	}
}
