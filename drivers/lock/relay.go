package lock

import (
	"fmt"
	"sync"
	"time"

	"roomgate/drivers"
)

// relockRetry is how soon a relay that refused to lock is tried again.
const relockRetry = time.Second

// relay is the line to the lock together with the time at which it must be
// locked again. It keeps that time itself, by a timer, so that a building that
// has stalled leaves no door open.
type relay struct {
	out         drivers.Output
	lockedLevel bool
	changed     chan struct{} // has room for one: locked by the timer

	mu       sync.Mutex
	open     bool
	until    time.Time // when to lock; zero: when somebody says so
	lockedAt time.Time
	timer    *time.Timer
	closed   bool
}

func newRelay(out drivers.Output, lockedLevel bool) *relay {
	return &relay{out: out, lockedLevel: lockedLevel, changed: make(chan struct{}, 1)}
}

// unlock unlocks for d, or until lock if d is 0. The last command counts.
func (r *relay) unlock(d time.Duration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return drivers.ErrClosed
	}
	if err := r.out.Set(!r.lockedLevel); err != nil {
		_ = r.setLocked() // where the line stands is not known; it retries
		return fmt.Errorf("unlock: %w", err)
	}
	r.open, r.until = true, time.Time{}
	r.disarm()
	if d > 0 {
		r.until = time.Now().Add(d)
		r.arm(d)
	}
	return nil
}

// lock locks now.
func (r *relay) lock() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return drivers.ErrClosed
	}
	return r.setLocked()
}

// enforce locks if the unlock time is over.
func (r *relay) enforce() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return drivers.ErrClosed
	}
	if !r.open || r.until.IsZero() || time.Now().Before(r.until) {
		return nil
	}
	return r.setLocked()
}

// setLocked locks, or goes on trying. The caller holds mu.
func (r *relay) setLocked() error {
	r.disarm()
	if err := r.out.Set(r.lockedLevel); err != nil {
		r.open, r.until = true, time.Now() // not known to be locked
		r.arm(relockRetry)
		return fmt.Errorf("lock: %w", err)
	}
	if r.open {
		r.lockedAt = time.Now()
	}
	r.open, r.until = false, time.Time{}
	return nil
}

func (r *relay) arm(d time.Duration) {
	r.timer = time.AfterFunc(d, func() {
		if r.enforce() == nil {
			select {
			case r.changed <- struct{}{}:
			default:
			}
		}
	})
}

func (r *relay) disarm() {
	if r.timer != nil {
		r.timer.Stop() // one that fired already finds its time not come
	}
}

// value is what the relay was last told.
func (r *relay) value() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open {
		return drivers.Open
	}
	return drivers.Closed
}

// lockedFor says whether the relay is locked and was so for grace before at.
func (r *relay) lockedFor(grace time.Duration, at time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.open && at.Sub(r.lockedAt) >= grace
}

// Close locks and gives the line back.
func (r *relay) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	err := r.setLocked()
	r.disarm()
	r.closed = true
	if e := r.out.Close(); err == nil {
		err = e
	}
	return err
}
