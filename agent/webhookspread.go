package agent

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	"roomgate/agent/webhook"
	"roomgate/drivers"
	"roomgate/store"
)

// spreadPage is how much of the log is turned into deliveries at once, and
// how much may be read again after a restart.
const spreadPage = 100

// webhookAlerts are the events of devices that webhooks are told of.
var webhookAlerts = map[string]bool{"temperatureAlert": true, drivers.EventDoorForced: true, drivers.EventDoorHeldOpen: true}

// webhookEvent is what webhooks call an event of the log; empty: they are not
// told of it.
func webhookEvent(rowType string) string {
	kind, ok := strings.CutPrefix(rowType, eventlog.LevelEvent+".")
	switch {
	case ok && webhookAlerts[kind]:
		return webhook.DeviceAlert
	case ok && slices.Contains(webhook.Events(), kind):
		return kind
	}
	return ""
}

// spreadEvents makes deliveries of what the log is told. An event is in the
// log in the transaction that made it true, and the log is read up to a stored
// position which moves in the transaction that stores the deliveries: so no
// booking waits for its webhooks, and none of them is forgotten or told twice.
func (a *Agent) spreadEvents(ctx context.Context) error {
	for {
		grown := a.Events.Changed()
		err := a.hooks.turn.Lock(ctx)
		if err == nil {
			err = a.spreadAll(ctx)
			a.hooks.turn.Unlock()
		}
		switch {
		case errors.Is(err, store.ErrFailed):
			return err
		case err != nil && ctx.Err() == nil:
			a.log.Error("deliveries to webhooks cannot be stored, this is tried again: free space on the disk", "error", err)
			loop.Sleep(ctx, 10*time.Second)
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-grown:
			a.hooks.due.Wake() // it may have been the clock that was moved
		}
	}
}

// spreadAll goes to the end of the log. The caller has the turn.
func (a *Agent) spreadAll(ctx context.Context) error {
	for {
		page, err := a.Events.Page(a.hooks.cursor, spreadPage)
		if err != nil || len(page) == 0 {
			return err
		}
		if err := a.spread(ctx, page); err != nil {
			return err
		}
	}
}

// spread makes the deliveries of some rows.
func (a *Agent) spread(ctx context.Context, page []store.Item[eventlog.Row]) error {
	h := a.hooks
	last := page[len(page)-1].Seq
	var made []webhook.Delivery
	for _, item := range page {
		made = append(made, a.deliveriesOf(item.Value)...)
	}
	if len(made) == 0 && (last < h.saved+spreadPage || h.none()) {
		h.cursor = last
		return nil
	}
	err := a.db.Update(ctx, func(tx *store.Tx) error {
		for _, d := range made {
			if err := deliveries.Put(tx, deliveryKey(d.WebhookID, d.ID), d); err != nil {
				return err
			}
		}
		return webhookCursor.Put(tx, last)
	})
	if err != nil {
		return err
	}
	h.cursor, h.saved = last, last
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, d := range made {
		h.byID[d.WebhookID].put(d)
	}
	a.boundDeliveries()
	h.due.Wake()
	return nil
}

func (h *hooks) none() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.byID) == 0
}

// toldEvent is what is read of an event in the log.
type toldEvent struct {
	Details struct {
		BookingID      string            `json:"booking_id"`
		SpaceID        string            `json:"meeting_space_id"`
		OrganizationID string            `json:"organization_id"`
		StartTime      string            `json:"start_time"`
		EndTime        string            `json:"end_time"`
		Organizer      webhook.Organizer `json:"organizer"`
		Device         string            `json:"device"`
		DeviceID       string            `json:"device_id"`
	} `json:"details"`
}

// deliveriesOf makes one delivery for each webhook that is told of a row.
func (a *Agent) deliveriesOf(r eventlog.Row) (made []webhook.Delivery) {
	event := webhookEvent(r.Type)
	if event == "" {
		return nil
	}
	h := a.hooks
	h.mu.Lock()
	defer h.mu.Unlock()
	var e toldEvent
	for _, id := range slices.Sorted(maps.Keys(h.byID)) {
		w := h.byID[id].Webhook
		if !slices.Contains(w.Events, event) {
			continue
		}
		if e.Details.SpaceID == "" {
			if err := json.Unmarshal(r.Data, &e); err != nil {
				a.log.Error("an event of the log cannot be read and no webhook is told of it", "event", r.Type, "error", err)
				return nil
			}
			e.Details.SpaceID = r.Space
			if event == webhook.DeviceAlert {
				s := a.find(r.Space)
				if s == nil {
					return nil // it is gone, and nobody can say whose it was
				}
				e.Details.OrganizationID = a.ownerOf(s)
			}
		}
		if !w.Wants(event, e.Details.OrganizationID) {
			continue
		}
		body, err := webhook.Encode(event, r.Time(), id, e.data(event, w.OrganizationID, r))
		if err != nil {
			a.log.Error("a webhook cannot be told of an event", "event", r.Type, "error", err)
			continue
		}
		made = append(made, webhook.NewDelivery(h.nextID(), id, event, body, a.Now()))
	}
	return made
}

// data is the inner part of the notification to an organization's webhook.
func (e toldEvent) data(event, organization string, r eventlog.Row) any {
	d := e.Details
	if event != webhook.DeviceAlert {
		return webhook.BookingData{BookingID: d.BookingID, SpaceID: d.SpaceID, OrganizationID: organization,
			StartTime: d.StartTime, EndTime: d.EndTime, Organizer: d.Organizer}
	}
	var all struct {
		Details map[string]any `json:"details"`
	}
	_ = json.Unmarshal(r.Data, &all) // it was read once
	for _, name := range []string{"meeting_space_id", "device", "device_id"} {
		delete(all.Details, name)
	}
	return webhook.AlertData{Alert: strings.TrimPrefix(r.Type, eventlog.LevelEvent+"."), SpaceID: d.SpaceID, OrganizationID: organization,
		Device: d.Device, DeviceID: d.DeviceID, Details: all.Details}
}

// nextID is a delivery's id: a number that orders it, and 50 random bits, so
// that a restored backup gives none twice. The caller holds mu.
func (h *hooks) nextID() string {
	id := fmt.Sprintf("%010x-%s", h.next, strings.ToLower(rand.Text()[:10]))
	h.next++
	return id
}

// boundDeliveries keeps the budget: of each webhook the newest that wait and
// the newest that are finished, and of the building so many; then the webhook
// with the most gives up its oldest. The caller holds mu.
func (a *Agent) boundDeliveries() {
	h, all := a.hooks, 0
	for _, w := range h.byID {
		h.forgetDone(w, keepDelivered)
		if over := len(w.waiting) - maxWaiting; over > 0 {
			a.giveUp(w, over)
		}
		all += len(w.waiting) + len(w.done)
	}
	for all > h.limit {
		largest := slices.MaxFunc(slices.Collect(maps.Values(h.byID)), func(x, y *hook) int {
			return len(x.waiting) + len(x.done) - len(y.waiting) - len(y.done)
		})
		share := min(all-h.limit, len(largest.waiting)/10+len(largest.done)/10+1)
		if over := len(largest.done); over > 0 {
			share = min(share, over)
			h.forgetDone(largest, over-share)
		} else {
			a.giveUp(largest, share)
		}
		all -= share
	}
}

// forgetDone keeps only so many finished deliveries of a webhook.
func (h *hooks) forgetDone(w *hook, keep int) {
	over := len(w.done) - keep
	for _, id := range w.done[:max(0, over)] {
		h.forget(w.ID, id)
	}
	w.done = slices.Delete(w.done, 0, max(0, over))
}

// giveUp drops the oldest deliveries that wait for a webhook.
func (a *Agent) giveUp(w *hook, n int) {
	h := a.hooks
	for _, d := range w.waiting[:n] {
		h.forget(w.ID, d.id)
	}
	w.waiting = slices.Delete(w.waiting, 0, n)
	if w.Dropped == 0 {
		a.log.Warn("too many deliveries wait for a webhook, the oldest are dropped: see why it does not take them", "webhook", w.ID)
	}
	w.Dropped += n
	h.dirty[w.ID] = true
	h.save.Wake()
}

func (h *hooks) forget(webhookID, id string) {
	key := deliveryKey(webhookID, id)
	delete(h.unsaved, key)
	h.erase[key] = true
	h.save.Wake()
}
