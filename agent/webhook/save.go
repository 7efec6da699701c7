package webhook

import (
	"context"
	"maps"
	"slices"
	"time"

	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	"roomgate/store"
)

// maxRows is how many events about webhooks, and notices of them, wait for a disk
// that takes none.
const maxRows = 1000

// saveLoop stores the results of deliveries: at once when it was quiet, else once
// per interval, so that a thousand of them do not wear the card out. After a power
// cut a delivery may be sent again, with the same webhook-id.
func (ds *Dispatcher) saveLoop(ctx context.Context) error {
	pause := ds.flush
	for {
		select {
		case <-ctx.Done():
			return nil // Run writes the last
		case <-ds.save:
		}
		err := ds.saveAll(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			ds.log.Error("cannot store the results of deliveries to webhooks, keeping them in memory: see roomgate doctor", "error", err)
			pause = min(2*max(pause, time.Second), time.Minute)
			ds.save.Wake()
		default:
			pause = ds.flush
		}
		loop.Sleep(ctx, pause)
	}
}

// unsaved is what the store does not have yet.
type unsaved struct {
	hooks      map[string]storedWebhook
	deliveries map[string]Delivery
	erase      []string
	rows       []eventlog.Row
	notices    []Notice // only where there are rows
}

func (u unsaved) empty() bool {
	return len(u.hooks)+len(u.deliveries)+len(u.erase)+len(u.rows) == 0
}

// saveAll writes all that the store does not have yet in one transaction, with
// the notices to the administrators.
func (ds *Dispatcher) saveAll(ctx context.Context) error {
	if err := ds.turn.Lock(ctx); err != nil {
		return err
	}
	defer ds.turn.Unlock()
	u := ds.takeUnsaved()
	if u.empty() {
		return nil
	}
	write := func(tx *store.Tx) error { return u.write(tx, ds.events) }
	var err error
	if len(u.rows) == 0 {
		err = ds.db.Update(ctx, write) // the log does not grow, so nobody need look at it
	} else {
		err = ds.events.Commit(ctx, eventlog.Stage{Write: write}, ds.notify(u.notices))
	}
	if err != nil {
		ds.giveBack(u)
		return err
	}
	ds.forgetStored(u)
	return nil
}

// takeUnsaved takes everything but the deliveries themselves, which are read
// from memory until the store has them.
func (b *book) takeUnsaved() unsaved {
	b.mu.Lock()
	defer b.mu.Unlock()
	u := unsaved{hooks: map[string]storedWebhook{}, deliveries: maps.Clone(b.unsaved),
		erase: slices.Collect(maps.Keys(b.erase)), rows: b.rows, notices: b.notices}
	for id := range b.dirty {
		u.hooks[id] = b.byID[id].storedWebhook
	}
	clear(b.erase)
	clear(b.dirty)
	b.rows, b.notices = nil, nil
	return u
}

func (u unsaved) write(tx *store.Tx, log *eventlog.Log) error {
	for _, w := range u.hooks {
		if err := w.keep(tx); err != nil {
			return err
		}
	}
	for key, d := range u.deliveries {
		if err := deliveries.Put(tx, key, d); err != nil {
			return err
		}
	}
	for _, key := range u.erase {
		if err := deliveries.Delete(tx, key); err != nil {
			return err
		}
	}
	return log.Push(tx, u.rows...)
}

// giveBack keeps what could not be written for the next time.
func (b *book) giveBack(u unsaved) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id := range u.hooks {
		b.dirty[id] = true
	}
	for _, key := range u.erase {
		b.erase[key] = true
	}
	b.rows = append(u.rows, b.rows...)
	b.rows = b.rows[max(0, len(b.rows)-maxRows):]
	b.notices = append(u.notices, b.notices...)
	b.notices = b.notices[max(0, len(b.notices)-maxRows):]
}

// forgetStored forgets the deliveries that the store has now, unless they are newer
// by now.
func (b *book) forgetStored(u unsaved) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, written := range u.deliveries {
		now, ok := b.unsaved[key]
		if ok && now.Count == written.Count && now.QueuedAt.Equal(written.QueuedAt) && now.State == written.State {
			delete(b.unsaved, key)
		}
	}
}
