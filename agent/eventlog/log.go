// Package eventlog is the spine of the building: one log of what became true,
// written in the transaction that made it true. The cloud, webhooks, rules,
// pages and live streams follow it, each by a [Cursor] of its own.
package eventlog

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"time"

	"roomgate/agent/clock"
	"roomgate/agent/loop"
	"roomgate/store"
)

// Options are what a log is opened with.
type Options struct {
	DB    *store.DB
	Clock *clock.Clock
	Rows  int           // how many are kept; then the oldest goes, which shows in the sequence
	Flush time.Duration // how long changes of a busy building may wait for each other
	Log   *slog.Logger
	Grown func() // the log has grown; it must not wait. nil: nobody is told
}

// Log is the log, with the recorder that writes the changes of devices.
type Log struct {
	db    *store.DB
	clock *clock.Clock
	boot  string
	rows  store.Queue[Row]
	log   *slog.Logger
	grown loop.Broadcast
	wake  func()
	recorder
}

// rowsOf is the log in the store. The oldest row goes when it is full.
func rowsOf(most int) store.Queue[Row] {
	return store.NewQueue[Row]("log", most, store.DropOldest).Tailed()
}

// New prepares the log; Run moves it.
func New(o Options) *Log {
	l := &Log{db: o.DB, clock: o.Clock, boot: newBoot(), rows: rowsOf(o.Rows), log: o.Log, wake: o.Grown}
	l.recorder = recorder{interval: o.Flush, woken: loop.NewSignal()}
	return l
}

// Boot names this run of the process, in every row.
func (l *Log) Boot() string { return l.boot }

// newBoot is 50 random bits.
func newBoot() string { return strings.ToLower(rand.Text()[:10]) }

// Buckets names what the log has in the store.
func Buckets() []string { return []string{rowsOf(1).Bucket(), Cursors()} }

// Cursors names the bucket of all cursors.
func Cursors() string { return cursors.Bucket() }

// Newest returns the row that was written last; ok is false if there is none.
func Newest(db *store.DB) (r Row, ok bool, err error) {
	err = db.View(func(tx *store.Tx) error {
		rows := rowsOf(1)
		last := rows.Last(tx)
		page, err := rows.After(tx, max(last, 1)-1, 1)
		if len(page) > 0 {
			r, ok = page[0].Value, true
		}
		return err
	})
	return r, ok, err
}

// Row makes a row that says data of a space, a device and a sub-device, each of
// which may be empty.
func (l *Log) Row(kind string, at time.Time, space, device, sub string, data json.RawMessage) Row {
	return Row{Type: kind, Milli: at.UnixMilli(), Boot: l.boot, Untrusted: l.clock.Trust() != clock.Trusted,
		Space: space, Device: device, Sub: sub, Data: data}
}

// Event makes the row of an event that is about no device.
func (l *Log) Event(r Record) (Row, error) {
	data, err := r.Encode()
	return l.Row(EventType(r.Type), r.Time, r.Space, "", "", data), err
}

// Tell writes such an event in the transaction that makes it true.
func (l *Log) Tell(tx *store.Tx, r Record) error {
	row, err := l.Event(r)
	if err != nil {
		return err
	}
	return l.Push(tx, row)
}

// Push writes rows in the transaction that makes them true.
func (l *Log) Push(tx *store.Tx, rows ...Row) error {
	_, err := l.push(tx, rows...)
	return err
}

// PushAt is Push of one row, and returns its place in the log.
func (l *Log) PushAt(tx *store.Tx, r Row) (seq uint64, err error) { return l.push(tx, r) }

// Last is the place of the newest row, 0 in an empty log.
func (l *Log) Last() (seq uint64, err error) {
	err = l.db.View(func(tx *store.Tx) error {
		seq = l.rows.Last(tx)
		return nil
	})
	return seq, err
}

// Bounds are the places of the oldest and the newest row, and how many rows
// there are.
func (l *Log) Bounds(tx *store.Tx) (first, last uint64, rows int) {
	return l.rows.First(tx), l.rows.Last(tx), l.rows.Len(tx)
}

// Page returns at most limit rows after a place, oldest first.
func (l *Log) Page(after uint64, limit int) (page []store.Item[Row], err error) {
	err = l.db.View(func(tx *store.Tx) error {
		page, err = l.rows.After(tx, after, limit)
		return err
	})
	return page, err
}

// before returns at most limit rows before a place, newest first.
func (l *Log) before(seq uint64, limit int) (page []store.Item[Row], err error) {
	err = l.db.View(func(tx *store.Tx) error {
		page, err = l.rows.Before(tx, seq, limit)
		return err
	})
	return page, err
}

// Changed returns a channel that is closed when the log has grown. Take it
// before reading, or a row may be missed.
func (l *Log) Changed() <-chan struct{} { return l.grown.Wait() }

// Grow tells those who follow the log to look at it. Anybody who commits through
// the log needs not call it.
func (l *Log) Grow() {
	l.grown.Wake()
	if l.wake != nil {
		l.wake()
	}
}

// Cursor names how far somebody has followed the log.
type Cursor string

// cursors holds the cursors by name. "rule-minutes" among them is a time.
var cursors = store.NewTable[uint64]("cursors")

// Get returns the cursor's place; set is false if it was never put.
func (c Cursor) Get(tx *store.Tx) (seq uint64, set bool, err error) {
	seq, err = cursors.Get(tx, string(c))
	if errors.Is(err, store.ErrNotFound) {
		return 0, false, nil
	}
	return seq, err == nil, err
}

// Put moves the cursor.
func (c Cursor) Put(tx *store.Tx, seq uint64) error { return cursors.Put(tx, string(c), seq) }

// ToEnd moves the cursor to the end of the log: what is there is not followed.
func (c Cursor) ToEnd(tx *store.Tx) error { return c.Put(tx, End(tx)) }

// End is the place of the newest row, 0 in an empty log.
func End(tx *store.Tx) uint64 { return rowsOf(1).Last(tx) }

// Stage is what one noun adds to a change that spans several: it is written in
// one transaction with the others, and shown when that is committed.
type Stage struct {
	Write   func(*store.Tx) error // nil: nothing
	Show    func()                // after the commit; nil: nothing
	Release func()                // at the end, also of a failure; nil: nothing
}

// Commit writes the stages in one transaction and shows them in their order,
// releases them backwards, and then wakes those who follow the log: who looks
// at a new row sees what it tells of.
func (l *Log) Commit(ctx context.Context, stages ...Stage) error {
	err := l.db.Update(ctx, func(tx *store.Tx) error {
		for _, s := range stages {
			if s.Write == nil {
				continue
			}
			if err := s.Write(tx); err != nil {
				return err
			}
		}
		return nil
	})
	for _, s := range stages {
		if err == nil && s.Show != nil {
			s.Show()
		}
	}
	for i := range stages {
		if release := stages[len(stages)-1-i].Release; release != nil {
			release()
		}
	}
	if err == nil {
		l.Grow()
	}
	return err
}

// Update commits one stage.
func (l *Log) Update(ctx context.Context, write func(*store.Tx) error, show ...func()) error {
	return l.Commit(ctx, Stage{Write: write, Show: func() {
		for _, s := range show {
			s()
		}
	}})
}
