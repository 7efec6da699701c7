package agent

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	"roomgate/agent/webhook"
	"roomgate/store"
)

// maxTold is how many events about webhooks wait for a disk that takes none.
const maxTold = 1000

// saveDeliveries writes what came of the deliveries: at once when it was
// quiet, else once per interval, so that a thousand of them do not wear the
// card out. What a power cut takes is sent again, with the same webhook-id.
func (a *Agent) saveDeliveries(ctx context.Context) error {
	pause := a.config.Store.Flush
	for {
		select {
		case <-ctx.Done():
			return nil // runHooks writes the last
		case <-a.hooks.save:
		}
		err := a.saveHooks(ctx)
		switch {
		case errors.Is(err, store.ErrFailed):
			return err
		case err != nil && ctx.Err() == nil:
			a.log.Error("what came of deliveries to webhooks cannot be stored, it waits in memory: free space on the disk", "error", err)
			pause = min(2*max(pause, time.Second), time.Minute)
			a.hooks.save.Wake()
		default:
			pause = a.config.Store.Flush
		}
		loop.Sleep(ctx, pause)
	}
}

// unsavedHooks is what the store does not have yet.
type unsavedHooks struct {
	hooks      map[string]storedWebhook
	deliveries map[string]webhook.Delivery
	erase      []string
	told       []eventlog.Row
	notices    []notice
}

func (u unsavedHooks) empty() bool {
	return len(u.hooks)+len(u.deliveries)+len(u.erase)+len(u.told) == 0
}

// saveHooks writes all that the store does not have yet. What the administrators
// are told of it is a letter of the same transaction.
func (a *Agent) saveHooks(ctx context.Context) error {
	u, err := a.writeHooks(ctx)
	if err != nil {
		return err
	}
	if len(u.told) > 0 {
		a.Events.Grow()
	}
	if len(u.notices) > 0 {
		a.signIn.mail.Wake()
	}
	return nil
}

// writeHooks writes what the store does not have yet in one transaction.
func (a *Agent) writeHooks(ctx context.Context) (u unsavedHooks, err error) {
	h := a.hooks
	if err := h.turn.Lock(ctx); err != nil {
		return u, err
	}
	defer h.turn.Unlock()
	u = h.takeUnsaved()
	if u.empty() {
		return u, nil
	}
	err = a.db.Update(ctx, func(tx *store.Tx) error {
		if err := u.write(tx, a.Events); err != nil {
			return err
		}
		return a.queueNotices(tx, u.notices)
	})
	if err != nil {
		h.giveBack(u)
		return u, err
	}
	h.settle(u)
	return u, nil
}

// takeUnsaved takes everything but the deliveries themselves, which are read
// from memory until the store has them.
func (h *hooks) takeUnsaved() unsavedHooks {
	h.mu.Lock()
	defer h.mu.Unlock()
	u := unsavedHooks{hooks: map[string]storedWebhook{}, deliveries: maps.Clone(h.unsaved),
		erase: slices.Collect(maps.Keys(h.erase)), told: h.told, notices: h.notices}
	for id := range h.dirty {
		u.hooks[id] = h.byID[id].storedWebhook
	}
	clear(h.erase)
	clear(h.dirty)
	h.told, h.notices = nil, nil
	return u
}

func (u unsavedHooks) write(tx *store.Tx, log *eventlog.Log) error {
	for id, w := range u.hooks {
		if err := webhooks.Put(tx, id, w); err != nil {
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
	return log.Push(tx, u.told...)
}

// giveBack keeps what could not be written for the next time.
func (h *hooks) giveBack(u unsavedHooks) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id := range u.hooks {
		h.dirty[id] = true
	}
	for _, key := range u.erase {
		h.erase[key] = true
	}
	h.told = append(u.told, h.told...)
	h.told = h.told[max(0, len(h.told)-maxTold):]
	h.notices = append(u.notices, h.notices...)
	h.notices = h.notices[max(0, len(h.notices)-maxTold):]
}

// settle forgets the deliveries that the store has now, unless they are newer
// by now.
func (h *hooks) settle(u unsavedHooks) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, written := range u.deliveries {
		now, ok := h.unsaved[key]
		if ok && now.Count == written.Count && now.QueuedAt.Equal(written.QueuedAt) && now.State == written.State {
			delete(h.unsaved, key)
		}
	}
}
