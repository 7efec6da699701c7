package agent

import (
	"context"
	"errors"
	"slices"

	"roomgate/agent/webhook"
	"roomgate/store"
)

const (
	deliveryPage    = 50
	maxDeliveryPage = 200
)

// Deliveries returns what a webhook was or will be told, the newest first, at
// most limit (0: 50, at most 200). The cursor that comes back leads to the
// next page; it is empty on the last.
func (a *Agent) Deliveries(id string, limit int, cursor string) (page []webhook.Delivery, next string, err error) {
	if limit <= 0 {
		limit = deliveryPage
	}
	ids, more, err := a.hooks.page(id, min(limit, maxDeliveryPage), cursor)
	if err != nil {
		return nil, "", err
	}
	page = make([]webhook.Delivery, 0, len(ids))
	for _, one := range ids {
		d, err := a.delivery(id, one)
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
func (h *hooks) page(id string, limit int, cursor string) (ids []string, more bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.byID[id]
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
func (a *Agent) Redeliver(ctx context.Context, id, deliveryID string) (webhook.Delivery, error) {
	h := a.hooks
	if !h.has(id, deliveryID) {
		if _, err := a.Webhook(id); err != nil {
			return webhook.Delivery{}, err
		}
		return webhook.Delivery{}, noDelivery()
	}
	d, err := a.delivery(id, deliveryID)
	if err != nil {
		return d, err
	}
	d = d.Again(a.Now())
	if err := a.requeue(d); err != nil {
		return d, err
	}
	return d, a.saveHooks(ctx)
}

func noDelivery() error {
	return refuse(NotFound, "delivery_id", "is not a delivery of this webhook, or one that its log has forgotten")
}

func (h *hooks) has(id, deliveryID string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.byID[id]
	return w != nil && w.has(deliveryID)
}

func (w *hook) has(deliveryID string) bool {
	_, done := slices.BinarySearch(w.done, deliveryID)
	return done || slices.ContainsFunc(w.waiting, func(d waitingDelivery) bool { return d.id == deliveryID })
}

// requeue lets a delivery wait again. One that the log forgot since it was read
// is refused: its row goes with the next write.
func (a *Agent) requeue(d webhook.Delivery) error {
	h := a.hooks
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.byID[d.WebhookID]
	switch {
	case w == nil:
		return noWebhook()
	case !w.has(d.ID):
		return noDelivery()
	case w.State == webhook.Disabled:
		return refuse(NotNow, "state", "of the webhook is disabled: set it to active first")
	case d.Event == webhook.EventTest:
		return refuse(NotNow, "delivery_id", "was a test: send another one")
	case len(w.waiting) >= maxWaiting:
		return refuse(Full, "", "%d deliveries wait for the webhook already: see why it does not take them", maxWaiting)
	}
	w.put(d)
	w.rest = d.NextAt
	h.unsaved[deliveryKey(d.WebhookID, d.ID)] = d
	h.due.Wake()
	h.save.Wake()
	return nil
}

// maxTests is how many tests run at the same time.
const maxTests = 4

// TestWebhook sends a notification with made-up values once, waits for the
// answer, which takes at most 10 s, and returns what came of it. It is in the
// log like every other. A success ends failing; a failure changes nothing, but
// a 410 disables.
func (a *Agent) TestWebhook(ctx context.Context, id string) (d webhook.Delivery, err error) {
	if a.clock.Trust() != Trusted {
		return d, refuse(NotNow, "", "the clock is not trusted yet, so nothing can be signed that a receiver takes: wait until it is")
	}
	h := a.hooks
	w, d, secrets, err := a.newTest(id)
	if err != nil {
		return d, err
	}
	answer := h.sender.Send(ctx, w.URL, d.ID, d.Payload, secrets)
	h.mu.Lock()
	h.tests--
	if ctx.Err() != nil && !answer.Success() {
		h.mu.Unlock()
		return d, refuse(Unavailable, "", "the request ended before the receiver answered: try again")
	}
	if d = d.After(answer, a.Now()); d.State == webhook.Pending {
		d = d.GivenUp()
	}
	if owner := h.byID[id]; owner != nil {
		owner.put(d)
		a.logHidden(owner, answer)
		a.note(owner, d, answer)
	}
	h.mu.Unlock()
	return d, a.saveHooks(context.WithoutCancel(ctx))
}

func (a *Agent) newTest(id string) (w webhook.Webhook, d webhook.Delivery, secrets []webhook.Secret, err error) {
	h := a.hooks
	h.mu.Lock()
	defer h.mu.Unlock()
	owner := h.byID[id]
	switch {
	case owner == nil:
		return w, d, nil, noWebhook()
	case owner.Secrets.Current == "":
		return w, d, nil, refuse(NotNow, "state", "is disabled: %s", noSecret)
	case h.tests >= maxTests:
		return w, d, nil, refuse(Unavailable, "", "%d tests of webhooks are under way: try again in ten seconds", maxTests)
	}
	body, err := webhook.TestPayload(owner.Webhook, a.Now())
	if err != nil {
		return w, d, nil, err
	}
	h.tests++
	return owner.Webhook, webhook.NewDelivery(h.nextID(), id, webhook.EventTest, body, a.Now()), owner.Secrets.At(a.Now()), nil
}
