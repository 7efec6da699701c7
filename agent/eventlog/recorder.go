package eventlog

import (
	"context"
	"sync"
	"time"

	"roomgate/agent/loop"
	"roomgate/store"
)

// maxPending is how many changes wait for a disk that does not take them. On
// a full disk the oldest go first; what is known of a device is whole again
// with its next change.
const maxPending = 10_000

// Change is what one observation or command adds to the store.
type Change struct {
	Rows []Row                 // of the log
	Also func(*store.Tx) error // runs in the same transaction; nil: nothing
	// Latest is like Also; but of the changes that are written together only the
	// last of each Key counts.
	Key    string
	Latest func(*store.Tx) error
	Done   func() // after the commit; nil: nothing
}

// Any says whether there is anything to write.
func (c Change) Any() bool { return len(c.Rows) > 0 || c.Also != nil || c.Latest != nil }

// recorder writes changes in the order in which they came, many in one
// transaction: at once when it was quiet, else once per interval, so that a
// busy building does not wear its card out. What must be on disk before
// somebody is answered is written by Write, together with all that waited.
type recorder struct {
	interval time.Duration

	mu      sync.Mutex
	pending []Change
	lost    int         // changes given up since the last success
	woken   loop.Signal // something is pending

	writing sync.Mutex // held by the one who writes
}

// Add hands a change over and returns at once.
func (l *Log) Add(c Change) {
	l.mu.Lock()
	l.pending = append(l.pending, c)
	l.bound()
	l.mu.Unlock()
	l.woken.Wake()
}

// bound gives the oldest changes up when there are too many.
func (r *recorder) bound() {
	if over := len(r.pending) - maxPending; over > 0 {
		r.lost += over
		r.pending = append([]Change(nil), r.pending[over:]...)
	}
}

// Write writes c and everything that waits before it. The change stays with the
// log if the disk refuses it, and the error says so.
func (l *Log) Write(ctx context.Context, c Change) error {
	l.mu.Lock()
	l.pending = append(l.pending, c)
	l.mu.Unlock()
	err := l.Flush(ctx)
	if err != nil {
		l.woken.Wake()
	}
	return err
}

// Run writes until ctx ends, then once more.
func (l *Log) Run(ctx context.Context) error {
	pause := l.interval
	for {
		select {
		case <-ctx.Done():
			last, cancel := loop.Last(ctx)
			defer cancel()
			return l.Finish(last)
		case <-l.woken:
		}
		err := l.Flush(ctx)
		if err != nil && ctx.Err() == nil {
			l.log.Error("changes cannot be stored, they wait in memory: see roomgate doctor", "error", err)
			pause = min(2*max(pause, time.Second), time.Minute)
			l.woken.Wake()
		} else {
			pause = l.interval
		}
		loop.Sleep(ctx, pause)
	}
}

// Finish is Flush at the end of the building. What a disk does not take is not stored, and the log says how much that is.
func (l *Log) Finish(ctx context.Context) error {
	err := l.Flush(ctx)
	if store.Unstored(err) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.log.Warn("the log of events lacks the changes that waited in memory for the disk, and the next start looks at the devices again", "changes", len(l.pending)+l.lost, "error", err)
		return nil
	}
	return err
}

// Flush writes all that is pending in one transaction.
func (l *Log) Flush(ctx context.Context) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	batch, lost := l.pending, l.lost
	l.pending = nil
	l.mu.Unlock()
	if len(batch) == 0 {
		return nil
	}
	err := l.db.Update(ctx, func(tx *store.Tx) error { return l.write(tx, batch) })
	l.mu.Lock()
	if err != nil {
		l.pending = append(batch, l.pending...)
		l.bound()
	} else {
		l.lost -= lost
	}
	l.mu.Unlock()
	if err != nil {
		return err
	}
	if lost > 0 {
		l.log.Error("changes were lost while the disk took none", "changes", lost)
	}
	for _, c := range batch {
		if c.Done != nil {
			c.Done()
		}
	}
	l.Grow()
	return nil
}

func (l *Log) write(tx *store.Tx, batch []Change) error {
	latest := map[string]func(*store.Tx) error{}
	for _, c := range batch {
		if err := l.Push(tx, c.Rows...); err != nil {
			return err
		}
		if c.Latest != nil {
			latest[c.Key] = c.Latest
		}
		if c.Also == nil {
			continue
		}
		if err := c.Also(tx); err != nil {
			return err
		}
	}
	for _, write := range latest {
		if err := write(tx); err != nil {
			return err
		}
	}
	return nil
}
