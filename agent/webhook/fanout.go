package webhook

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	"roomgate/store"
)

// logPage is how many rows of the log are turned into deliveries at once, and how
// many may be read again after a restart.
const logPage = 100

// eventOf is what webhooks call an event of the log; empty: they do not get it.
func (ds *Dispatcher) eventOf(r eventlog.Row) string {
	kind := r.Kind()
	switch {
	case slices.Contains(ds.alerts, kind):
		return DeviceAlert
	case slices.Contains(Events(), kind):
		return kind
	}
	return ""
}

// followLoop makes deliveries of what comes into the log. An event is in the log
// in the transaction that made it true, and the log is read up to a stored
// position which moves in the transaction that stores the deliveries: so no
// booking waits for its webhooks, and each of them gets it once.
func (ds *Dispatcher) followLoop(ctx context.Context) error {
	for {
		grown := ds.events.Changed()
		err := ds.turn.Lock(ctx)
		if err == nil {
			err = ds.fanOutAll(ctx)
			ds.turn.Unlock()
		}
		if err != nil && ctx.Err() == nil {
			ds.log.Error("cannot store deliveries to webhooks, trying again: see roomgate doctor", "error", err)
			loop.Sleep(ctx, 10*time.Second)
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-grown:
			ds.due.Wake() // it may have been the clock that was moved
		}
	}
}

// fanOutAll goes to the end of the log. The caller has the turn.
func (ds *Dispatcher) fanOutAll(ctx context.Context) error {
	for {
		page, err := ds.events.Page(ds.cursor, logPage)
		if err != nil || len(page) == 0 {
			return err
		}
		if err := ds.fanOut(ctx, page); err != nil {
			return err
		}
	}
}

// fanOut makes the deliveries of some rows.
func (ds *Dispatcher) fanOut(ctx context.Context, page []store.Item[eventlog.Row]) error {
	last := page[len(page)-1].Seq
	var made []Delivery
	for _, item := range page {
		made = append(made, ds.deliveriesOf(item.Value)...)
	}
	if len(made) == 0 && (last < ds.saved+logPage || ds.none()) {
		ds.cursor = last
		return nil
	}
	err := ds.db.Update(ctx, func(tx *store.Tx) error {
		for _, d := range made {
			if err := deliveries.Put(tx, deliveryKey(d.WebhookID, d.ID), d); err != nil {
				return err
			}
		}
		return logCursor.Put(tx, last)
	})
	if err != nil {
		return err
	}
	ds.cursor, ds.saved = last, last
	ds.mu.Lock()
	defer ds.mu.Unlock()
	for _, d := range made {
		ds.byID[d.WebhookID].put(d)
	}
	ds.boundDeliveries()
	ds.due.Wake()
	return nil
}

func (b *book) none() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.byID) == 0
}

// loggedEvent is what is read of an event in the log.
type loggedEvent struct {
	Details struct {
		BookingID      string    `json:"booking_id"`
		SpaceID        string    `json:"meeting_space_id"`
		OrganizationID string    `json:"organization_id"`
		StartTime      string    `json:"start_time"`
		EndTime        string    `json:"end_time"`
		Organizer      Organizer `json:"organizer"`
		Device         string    `json:"device"`
		DeviceID       string    `json:"device_id"`
	} `json:"details"`
}

// deliveriesOf makes one delivery for each webhook that wants a row.
func (ds *Dispatcher) deliveriesOf(r eventlog.Row) (made []Delivery) {
	event := ds.eventOf(r)
	if event == "" {
		return nil
	}
	ds.mu.Lock()
	defer ds.mu.Unlock()
	var e *loggedEvent // read for the first who wants it
	for _, id := range slices.Sorted(maps.Keys(ds.byID)) {
		w := ds.byID[id].Webhook
		if !slices.ContainsFunc(names(event), func(name string) bool { return slices.Contains(w.Events, name) }) {
			continue
		}
		if e == nil {
			if e = ds.read(event, r); e == nil {
				return nil
			}
		}
		name := e.nameFor(w, event, r.Time())
		if !w.Wants(name, e.Details.OrganizationID) {
			continue
		}
		body, err := Encode(name, r.Time(), id, e.data(event, w.OrganizationID, r))
		if err != nil {
			ds.log.Error("cannot write an event for a webhook", "webhook", id, "event", r.Type, "error", err)
			continue
		}
		made = append(made, NewDelivery(ds.nextID(), id, name, body, ds.clock.Now()))
	}
	return made
}

// read reads an event of the log with the organization that it is of; nil: it
// cannot be read, or nobody can say any more whose it was.
func (ds *Dispatcher) read(event string, r eventlog.Row) *loggedEvent {
	var e loggedEvent
	if err := json.Unmarshal(r.Data, &e); err != nil {
		ds.log.Error("cannot read an event of the log, no webhook gets it", "event", r.Type, "error", err)
		return nil
	}
	e.Details.SpaceID = r.Space
	if event == DeviceAlert {
		owner, err := ds.owner(r.Space)
		if err != nil {
			return nil
		}
		e.Details.OrganizationID = owner
	}
	return &e
}

// nameFor is what an event is called for a webhook. A webhook that knows the platform's four
// events only hears of a booking that was released or displaced as of one that was
// cancelled or, if it had begun, that has ended.
func (e loggedEvent) nameFor(w Webhook, event string, at time.Time) string {
	if slices.Contains(w.Events, event) || event != BookingReleased && event != BookingDisplaced {
		return event
	}
	if start, err := time.Parse(time.RFC3339, e.Details.StartTime); err == nil && !at.Before(start) {
		return BookingEnd
	}
	return BookingCancelled
}

// data is the inner part of the notification to an organization's webhook.
func (e loggedEvent) data(event, organization string, r eventlog.Row) any {
	d := e.Details
	if event != DeviceAlert {
		return BookingData{BookingID: d.BookingID, SpaceID: d.SpaceID, OrganizationID: organization,
			StartTime: d.StartTime, EndTime: d.EndTime, Organizer: d.Organizer}
	}
	var all struct {
		Details map[string]any `json:"details"`
	}
	_ = json.Unmarshal(r.Data, &all) // it was read once
	for _, name := range []string{"meeting_space_id", "device", "device_id"} {
		delete(all.Details, name)
	}
	return AlertData{Alert: r.Kind(), SpaceID: d.SpaceID, OrganizationID: organization,
		Device: d.Device, DeviceID: d.DeviceID, Details: all.Details}
}

// nextID is a delivery's id: a number that orders it, and 50 random bits, so
// that a restored backup gives none twice. The caller holds mu.
func (b *book) nextID() string {
	id := fmt.Sprintf("%010x-%s", b.next, strings.ToLower(rand.Text()[:10]))
	b.next++
	return id
}

// boundDeliveries keeps the budget: of each webhook the newest that wait and
// the newest that are finished, and of the building so many; then the webhook
// with the most gives up its oldest. The caller holds mu.
func (ds *Dispatcher) boundDeliveries() {
	all := 0
	for _, w := range ds.byID {
		ds.forgetDone(w, keepDelivered)
		if over := len(w.waiting) - maxWaiting; over > 0 {
			ds.giveUp(w, over)
		}
		all += len(w.waiting) + len(w.done)
	}
	for all > ds.limit {
		largest := slices.MaxFunc(slices.Collect(maps.Values(ds.byID)), func(x, y *hook) int {
			return len(x.waiting) + len(x.done) - len(y.waiting) - len(y.done)
		})
		share := min(all-ds.limit, len(largest.waiting)/10+len(largest.done)/10+1)
		if over := len(largest.done); over > 0 {
			share = min(share, over)
			ds.forgetDone(largest, over-share)
		} else {
			ds.giveUp(largest, share)
		}
		all -= share
	}
}

// forgetDone keeps only so many finished deliveries of a webhook.
func (b *book) forgetDone(w *hook, keep int) {
	over := len(w.done) - keep
	for _, id := range w.done[:max(0, over)] {
		b.forget(w.ID, id)
	}
	w.done = slices.Delete(w.done, 0, max(0, over))
}

// giveUp drops the oldest deliveries that wait for a webhook. One that is under way
// may arrive yet, and stays.
func (ds *Dispatcher) giveUp(w *hook, n int) {
	gone := 0
	w.waiting = slices.DeleteFunc(w.waiting, func(d waitingDelivery) bool {
		if gone == n || d.id == w.under {
			return false
		}
		gone++
		ds.forget(w.ID, d.id)
		return true
	})
	ds.dropped(w, gone)
}

// dropped counts deliveries that nobody gets.
func (ds *Dispatcher) dropped(w *hook, n int) {
	if n == 0 {
		return
	}
	if w.Dropped == 0 {
		ds.log.Warn("too many deliveries wait for a webhook, dropping the oldest: see why its receiver does not take them", "webhook", w.ID)
	}
	w.Dropped += n
	ds.dirty[w.ID] = true
	ds.save.Wake()
}

func (b *book) forget(webhookID, id string) {
	key := deliveryKey(webhookID, id)
	delete(b.unsaved, key)
	b.erase[key] = true
	b.save.Wake()
}
