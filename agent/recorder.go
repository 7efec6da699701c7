package agent

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"roomgate/store"
)

// maxPending is how many changes wait for a disk that does not take them. On
// a full disk the oldest go first; the readings of a device are whole again
// with its next change.
const maxPending = 10_000

// change is what one observation or order adds to the store.
type change struct {
	rows     []row // of the log
	deviceID string
	readings []storedReading       // of the device; nil: unchanged
	also     func(*store.Tx) error // runs in the same transaction; nil: nothing
}

func (c change) any() bool { return len(c.rows) > 0 || c.readings != nil || c.also != nil }

// recorder writes changes in the order in which they came, many in one
// transaction: at once when it was quiet, else once per interval, so that a
// busy building does not wear its card out. What must be on disk before
// somebody is answered is written by now, together with all that waited.
type recorder struct {
	db       *store.DB
	log      *slog.Logger
	rows     store.Queue[row]
	interval time.Duration
	written  func() // after each successful write

	mu      sync.Mutex
	pending []change
	lost    int           // changes given up since the last success
	woken   chan struct{} // holds a token when something is pending

	writing sync.Mutex // held by the one who writes
}

func newRecorder(db *store.DB, rows store.Queue[row], interval time.Duration, log *slog.Logger, written func()) *recorder {
	return &recorder{db: db, rows: rows, interval: interval, log: log, written: written, woken: make(chan struct{}, 1)}
}

// add hands a change over and returns at once.
func (r *recorder) add(c change) {
	r.mu.Lock()
	r.pending = append(r.pending, c)
	r.bound()
	r.mu.Unlock()
	r.wake()
}

// bound gives the oldest changes up when there are too many.
func (r *recorder) bound() {
	if over := len(r.pending) - maxPending; over > 0 {
		r.lost += over
		r.pending = append([]change(nil), r.pending[over:]...)
	}
}

// now writes c and everything that waits before it. The change stays with the
// recorder if the disk refuses it, and the error says so.
func (r *recorder) now(ctx context.Context, c change) error {
	r.mu.Lock()
	r.pending = append(r.pending, c)
	r.mu.Unlock()
	err := r.flush(ctx)
	if err != nil {
		r.wake()
	}
	return err
}

// run writes until ctx ends, then once more.
func (r *recorder) run(ctx context.Context) error {
	pause := r.interval
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			return r.flush(last)
		case <-r.woken:
		}
		err := r.flush(ctx)
		if errors.Is(err, store.ErrFailed) {
			return err // only a new start can mend the store
		}
		if err != nil && ctx.Err() == nil {
			r.log.Error("changes cannot be stored, they wait in memory: free space on the disk", "error", err)
			pause = min(2*max(pause, time.Second), time.Minute)
			r.wake()
		} else {
			pause = r.interval
		}
		sleep(ctx, pause)
	}
}

func (r *recorder) wake() {
	select {
	case r.woken <- struct{}{}:
	default:
	}
}

// flush writes all that is pending in one transaction.
func (r *recorder) flush(ctx context.Context) error {
	r.writing.Lock()
	defer r.writing.Unlock()
	r.mu.Lock()
	batch, lost := r.pending, r.lost
	r.pending = nil
	r.mu.Unlock()
	if len(batch) == 0 {
		return nil
	}
	err := r.db.Update(ctx, func(tx *store.Tx) error { return r.write(tx, batch) })
	r.mu.Lock()
	if err != nil {
		r.pending = append(batch, r.pending...)
		r.bound()
	} else {
		r.lost -= lost
	}
	r.mu.Unlock()
	if err != nil {
		return err
	}
	if lost > 0 {
		r.log.Error("changes were lost while the disk took none", "changes", lost)
	}
	r.written()
	return nil
}

func (r *recorder) write(tx *store.Tx, batch []change) error {
	latest := map[string]int{}
	for i, c := range batch {
		for _, line := range c.rows {
			if _, err := r.rows.Push(tx, line); err != nil {
				return err
			}
		}
		if c.readings != nil {
			latest[c.deviceID] = i
		}
		if c.also != nil {
			if err := c.also(tx); err != nil {
				return err
			}
		}
	}
	for id, i := range latest {
		if err := readings.Put(tx, id, batch[i].readings); err != nil {
			return err
		}
	}
	return nil
}
