package agent

import (
	"context"
	"errors"
	"net/url"
	"time"

	"golang.org/x/sync/errgroup"

	"roomgate/agent/eventlog"
	"roomgate/agent/webhook"
	"roomgate/store"
)

// hookStep is the longest that the deliveries are left alone: a clock that was
// set, or is trusted now, is noticed after so long.
const hookStep = 10 * time.Second

// The events that tell the administrator how a webhook stands.
const (
	webhookFailing   = "webhookFailing"
	webhookRecovered = "webhookRecovered"
	webhookDisabled  = "webhookDisabled"
)

// runHooks moves the webhooks until ctx ends. Nothing in the building waits
// for them.
func (a *Agent) runHooks(ctx context.Context) error {
	loops, inner := errgroup.WithContext(ctx)
	loops.Go(func() error { return a.spreadEvents(inner) })
	loops.Go(func() error { return a.sendDeliveries(inner) })
	loops.Go(func() error { return a.saveDeliveries(inner) })
	err := loops.Wait()
	a.hooks.sender.Close()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	return errors.Join(err, a.saveHooks(last))
}

// sendDeliveries sends what is due. While the clock is not trusted it waits:
// the time in a signature would be wrong, and receivers refuse that.
func (a *Agent) sendDeliveries(ctx context.Context) error {
	var attempts errgroup.Group
	defer func() { _ = attempts.Wait() }()
	for {
		wait := hookStep
		if a.clock.Trust() == Trusted {
			wait = a.sendDue(ctx, &attempts)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-a.hooks.due:
		case <-time.After(wait):
		}
	}
}

// sendDue begins what can be sent now, and says when to look again. A webhook
// is told one thing after the other and waits for no other webhook, so at most
// maxWebhooks attempts are under way.
func (a *Agent) sendDue(ctx context.Context, attempts *errgroup.Group) time.Duration {
	h, wait := a.hooks, hookStep
	h.mu.Lock()
	defer h.mu.Unlock()
	now := a.Now()
	for _, w := range h.byID {
		id, at := w.first(now)
		if id == "" {
			continue
		}
		if at.After(now) {
			wait = min(wait, at.Sub(now))
			continue
		}
		w.busy = true
		attempts.Go(func() error { a.attempt(ctx, w, id); return nil })
	}
	return max(wait, time.Millisecond)
}

// first is what is sent next and when: of what is due the oldest. A time that
// is farther ahead than any can be says that the clock was set back.
func (w *hook) first(now time.Time) (id string, at time.Time) {
	if w.busy || w.State == webhook.Disabled {
		return "", at
	}
	sane := func(t time.Time) time.Time {
		if t.Sub(now) > webhook.LongestWait {
			return now
		}
		return t
	}
	rest := sane(w.rest)
	for _, d := range w.waiting {
		due := sane(d.due)
		if rest.After(due) {
			due = rest
		}
		if id == "" || due.Before(at) {
			id, at = d.id, due
		}
		if !due.After(now) {
			break
		}
	}
	return id, at
}

// attempt sends one delivery of a webhook and notes what came of it.
func (a *Agent) attempt(ctx context.Context, w *hook, id string) {
	h := a.hooks
	h.mu.Lock()
	hookID, address, secrets := w.ID, w.URL, w.Secrets.At(a.Now())
	h.mu.Unlock()
	d, err := a.delivery(hookID, id)
	var answer webhook.Answer
	if err == nil {
		answer = h.sender.Send(ctx, address, d.ID, d.Payload, secrets)
		answer.Waited = min(a.Now().Sub(d.QueuedAt), time.Since(a.started))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	defer h.due.Wake()
	w.busy = false
	switch {
	case h.byID[hookID] != w || ctx.Err() != nil && !answer.Success():
		return // it was deleted, or we are about to stop and it comes again
	case err != nil:
		a.log.Error("a delivery cannot be read and is given up", "webhook", hookID, "delivery", id, "error", err)
		if w.drop(id) {
			h.forget(hookID, id)
		}
		return
	}
	a.logHidden(w, answer)
	a.note(w, d.After(answer, a.Now()), answer)
}

// logHidden says what of an answer is for whoever runs the gateway only.
func (a *Agent) logHidden(w *hook, answer webhook.Answer) {
	if answer.Detail != "" {
		a.log.Info("a notification was not taken, and whoever registered the webhook is not told why", "webhook", w.ID, "host", hostOf(w.URL), "reason", answer.Detail)
	}
}

// delivery reads a delivery as it is now.
func (a *Agent) delivery(webhookID, id string) (d webhook.Delivery, err error) {
	h, key := a.hooks, deliveryKey(webhookID, id)
	h.mu.Lock()
	d, ok := h.unsaved[key]
	h.mu.Unlock()
	if ok {
		return d, nil
	}
	err = a.db.View(func(tx *store.Tx) error {
		d, err = deliveries.Get(tx, key)
		return err
	})
	return d, err
}

// note shows a delivery after an attempt, and what it says of its webhook. The
// caller holds mu.
func (a *Agent) note(w *hook, d webhook.Delivery, answer webhook.Answer) {
	h, now := a.hooks, a.Now()
	if answer.Offline && d.State == webhook.Pending {
		a.noteOffline(w, d, answer)
		return
	}
	if w.drop(d.ID) { // or too many came meanwhile and it was given up
		w.put(d)
		h.unsaved[deliveryKey(w.ID, d.ID)] = d
	}
	if answer.Success() {
		w.failures, w.rest, w.LastSuccessAt = 0, time.Time{}, now.UTC().Truncate(time.Millisecond)
		if w.State == webhook.Failing {
			w.State, w.Reason = webhook.Active, ""
			a.tellWebhook(w, webhookRecovered, d)
		}
	} else {
		w.failures++
		w.rest = now.Add(webhook.Pause(w.failures, answer))
		w.LastFailureAt, w.LastError = now.UTC().Truncate(time.Millisecond), answer.Error
		switch {
		case answer.Gone() && w.State != webhook.Disabled:
			w.State, w.Reason = webhook.Disabled, answer.Error
			a.tellWebhook(w, webhookDisabled, d)
		case d.State == webhook.Failed && d.Event != webhook.EventTest && w.State == webhook.Active:
			w.State, w.Reason = webhook.Failing, "a delivery was given up after its last retry: "+answer.Error
			a.tellWebhook(w, webhookFailing, d)
		}
	}
	h.dirty[w.ID] = true
	h.forgetDone(w, keepDelivered)
	h.save.Wake()
}

// noteOffline shows that the gateway has no network. That is stored nowhere, or
// a building without internet would wear its card out by saying so every
// minute. The caller holds mu.
func (a *Agent) noteOffline(w *hook, d webhook.Delivery, answer webhook.Answer) {
	now := a.Now()
	if w.drop(d.ID) {
		w.put(d)
	}
	w.failures++
	w.rest = now.Add(webhook.Pause(w.failures, answer))
	w.LastFailureAt, w.LastError = now.UTC().Truncate(time.Millisecond), answer.Error
}

// webhookDevice is what an event of a webhook names as its device.
const webhookDevice = "webhook"

// tellWebhook tells the administrators, by an event and of trouble by mail too. The caller holds mu.
func (a *Agent) tellWebhook(w *hook, kind string, d webhook.Delivery) {
	details := map[string]any{"webhook_id": w.ID, "organization_id": w.OrganizationID, "host": hostOf(w.URL), "delivery_id": d.ID,
		"pending_deliveries": len(w.waiting)}
	if w.Reason != "" {
		details["reason"] = w.Reason
	}
	row, err := a.Events.Event(eventlog.Record{Type: kind, Time: a.Now(), Device: webhookDevice, Details: details})
	if err != nil { // not for text and numbers
		return
	}
	a.hooks.told = append(a.hooks.told, row)
	if kind != webhookRecovered {
		a.hooks.notices = append(a.hooks.notices, noticeOf(w.Webhook, len(w.waiting)))
	}
	a.log.Warn("a webhook has changed its state", "webhook", w.ID, "host", hostOf(w.URL), "state", w.State, "reason", w.Reason)
}

// hostOf is what of a webhook's address may be told: the rest may be a secret.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
