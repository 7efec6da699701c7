package webhook

import (
	"context"
	"errors"
	"slices"

	"roomgate/agent/problem"
	"roomgate/store"
)

const (
	deliveryPage    = 50
	maxDeliveryPage = 200
)

// Deliveries returns what a webhook was or will be sent, the newest first, at
// most limit (0: 50, at most 200). The cursor that comes back leads to the
// next page; it is empty on the last.
func (ds *Dispatcher) Deliveries(id string, limit int, cursor string) (page []Delivery, next string, err error) {
	if limit <= 0 {
		limit = deliveryPage
	}
	ids, more, err := ds.page(id, min(limit, maxDeliveryPage), cursor)
	if err != nil {
		return nil, "", err
	}
	page = make([]Delivery, 0, len(ids))
	for _, one := range ids {
		d, err := ds.delivery(id, one)
		switch {
		case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrDamaged):
			continue // forgotten meanwhile, or lost
		case err != nil:
			return nil, "", err
		}
		page = append(page, d)
	}
	if more {
		next = ids[len(ids)-1]
	}
	return page, next, nil
}

// page returns the ids of the newest deliveries below a cursor, and whether
// there are older ones.
func (b *book) page(id string, limit int, cursor string) (ids []string, more bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.byID[id]
	if w == nil {
		return nil, false, noWebhook()
	}
	waits, dones := len(w.waiting), len(w.done)
	for waits+dones > 0 {
		newest := ""
		if waits > 0 {
			newest = w.waiting[waits-1].id
		}
		if dones > 0 && w.done[dones-1] > newest {
			newest = w.done[dones-1]
			dones--
		} else {
			waits--
		}
		switch {
		case cursor != "" && newest >= cursor:
		case len(ids) == limit:
			return ids, true, nil
		default:
			ids = append(ids, newest)
		}
	}
	return ids, false, nil
}

// Redeliver sends a delivery again, at once and with all its retries ahead,
// whatever came of it. It keeps its id, by which a receiver can tell that it
// knows the notification.
func (ds *Dispatcher) Redeliver(ctx context.Context, id, deliveryID string) (Delivery, error) {
	if !ds.has(id, deliveryID) {
		if _, err := ds.Get(id); err != nil {
			return Delivery{}, err
		}
		return Delivery{}, noDelivery()
	}
	d, err := ds.delivery(id, deliveryID)
	if err != nil {
		return d, err
	}
	d = d.Again(ds.clock.Now())
	if err := ds.requeue(d); err != nil {
		return d, err
	}
	return d, ds.saveAll(ctx)
}

func noDelivery() error {
	return problem.New(problem.NotFound, "delivery_id", "is not a delivery of this webhook, or one that its log has forgotten")
}

func (b *book) has(id, deliveryID string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.byID[id]
	return w != nil && w.has(deliveryID)
}

func (h *hook) has(deliveryID string) bool {
	_, done := slices.BinarySearch(h.done, deliveryID)
	return done || slices.ContainsFunc(h.waiting, func(d waitingDelivery) bool { return d.id == deliveryID })
}

// requeue lets a delivery wait again. One that the log forgot since it was read
// is refused: its row goes with the next write.
func (ds *Dispatcher) requeue(d Delivery) error {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	w := ds.byID[d.WebhookID]
	switch {
	case w == nil:
		return noWebhook()
	case !w.has(d.ID):
		return noDelivery()
	case w.State == Disabled:
		return problem.New(problem.NotNow, "state", "of the webhook is disabled: set it to active first")
	case d.Event == EventTest:
		return problem.New(problem.NotNow, "delivery_id", "was a test: send another one")
	case len(w.waiting) >= maxWaiting:
		return problem.New(problem.Full, "", "%d deliveries wait for the webhook already: see why it does not take them", maxWaiting)
	}
	w.put(d)
	w.rest = d.NextAt
	ds.unsaved[deliveryKey(d.WebhookID, d.ID)] = d
	ds.due.Wake()
	ds.save.Wake()
	return nil
}
