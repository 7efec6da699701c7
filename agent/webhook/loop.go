package webhook

import (
	"context"
	"errors"
	"net/url"
	"time"

	"golang.org/x/sync/errgroup"

	"roomgate/agent/clock"
	"roomgate/agent/eventlog"
	"roomgate/store"
)

// longestStep is the longest that the deliveries are left alone: a clock that
// was set, or is trusted now, is noticed after so long.
const longestStep = 10 * time.Second

// unreadPause is the time before a delivery is read again that could not be.
const unreadPause = time.Minute

// sendLoop sends what is due. While the clock is not trusted it waits: the time in
// a signature would be wrong, and receivers refuse that.
func (ds *Dispatcher) sendLoop(ctx context.Context) error {
	var attempts errgroup.Group
	defer func() { _ = attempts.Wait() }()
	for {
		wait := longestStep
		if ds.clock.Trust() == clock.Trusted {
			wait = ds.sendDue(ctx, &attempts)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ds.due:
		case <-time.After(wait):
		}
	}
}

// sendDue begins what can be sent now, and says when to look again. A webhook
// gets one delivery after the other and waits for no other webhook, so at most
// maxWebhooks attempts are under way.
func (ds *Dispatcher) sendDue(ctx context.Context, attempts *errgroup.Group) time.Duration {
	wait := longestStep
	ds.mu.Lock()
	defer ds.mu.Unlock()
	now := ds.clock.Now()
	for _, w := range ds.byID {
		id, at := w.first(now)
		if id == "" {
			continue
		}
		if at.After(now) {
			wait = min(wait, at.Sub(now))
			continue
		}
		w.busy, w.under = true, id
		attempts.Go(func() error { ds.attempt(ctx, w, id); return nil })
	}
	return max(wait, time.Millisecond)
}

// first is what is sent next and when: of what is due the oldest. A time that
// is farther ahead than any can be says that the clock was set back.
func (h *hook) first(now time.Time) (id string, at time.Time) {
	if h.busy || h.State == Disabled {
		return "", at
	}
	sane := func(t time.Time) time.Time {
		if t.Sub(now) > LongestWait {
			return now
		}
		return t
	}
	rest := sane(h.rest)
	for _, d := range h.waiting {
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

// attempt sends one delivery of a webhook and notes the result.
func (ds *Dispatcher) attempt(ctx context.Context, w *hook, id string) {
	ds.mu.Lock()
	hookID, address, secrets := w.ID, w.URL, w.Secrets.At(ds.clock.Now())
	ds.mu.Unlock()
	d, err := ds.delivery(hookID, id)
	var answer Answer
	if err == nil {
		answer = ds.sender.Send(ctx, address, d.ID, d.Payload, secrets)
		answer.Waited = min(ds.clock.Now().Sub(d.QueuedAt), time.Since(ds.started))
	}
	ds.mu.Lock()
	defer ds.mu.Unlock()
	defer ds.due.Wake()
	w.busy, w.under = false, ""
	switch {
	case ds.byID[hookID] != w || ctx.Err() != nil && !answer.Success():
		return // it was deleted, or we are about to stop and it comes again
	case errors.Is(err, store.ErrNotFound): // a repair of the database has lost it
		ds.log.Error("a delivery is not in the database any more, giving it up", "webhook", hookID, "delivery", id)
		if w.drop(id) {
			ds.forget(hookID, id)
			ds.dropped(w, 1)
		}
		return
	case err != nil:
		ds.log.Error("cannot read a delivery now, trying again in a minute: see roomgate doctor", "webhook", hookID, "delivery", id, "error", err)
		w.postpone(id, ds.clock.Now().Add(unreadPause))
		return
	}
	ds.logHidden(w, answer)
	ds.note(w, d.After(answer, ds.clock.Now()), answer)
}

// logHidden says what of an answer is for whoever runs the gateway only.
func (ds *Dispatcher) logHidden(w *hook, answer Answer) {
	if answer.Detail != "" {
		ds.log.Info("a receiver took no notification, and who registered the webhook does not learn why", "webhook", w.ID, "host", hostOf(w.URL), "reason", answer.Detail)
	}
}

// delivery reads a delivery as it is now.
func (ds *Dispatcher) delivery(webhookID, id string) (d Delivery, err error) {
	key := deliveryKey(webhookID, id)
	ds.mu.Lock()
	d, ok := ds.unsaved[key]
	ds.mu.Unlock()
	if ok {
		return d, nil
	}
	err = ds.db.View(func(tx *store.Tx) error {
		d, err = deliveries.Get(tx, key)
		return err
	})
	return d, err
}

// note shows a delivery after an attempt, and what it says of its webhook. The
// caller holds mu.
func (ds *Dispatcher) note(w *hook, d Delivery, answer Answer) {
	now := ds.clock.Now()
	if answer.Offline && d.State == Pending {
		ds.noteOffline(w, d, answer)
		return
	}
	if w.drop(d.ID) { // or too many came meanwhile and it was given up
		w.put(d)
		ds.unsaved[deliveryKey(w.ID, d.ID)] = d
	}
	if answer.Success() {
		w.failures, w.rest, w.LastSuccessAt = 0, time.Time{}, stamp(now)
		if w.State == Failing {
			w.State, w.Reason = Active, ""
			ds.announce(w, eventRecovered, d)
		}
	} else {
		w.failures++
		w.rest = now.Add(Pause(w.failures, answer))
		w.LastFailureAt, w.LastError = stamp(now), answer.Error
		switch {
		case answer.Gone() && w.State != Disabled:
			w.State, w.Reason = Disabled, answer.Error
			ds.announce(w, eventDisabled, d)
		case d.State == Failed && d.Event != EventTest && w.State == Active:
			w.State, w.Reason = Failing, "a delivery was given up after its last retry: "+answer.Error
			ds.announce(w, eventFailing, d)
		}
	}
	ds.dirty[w.ID] = true
	ds.forgetDone(w, keepDelivered)
	ds.save.Wake()
}

// noteOffline shows that the gateway has no network. That is stored nowhere, or
// a building without internet would wear its card out by saying so every
// minute. The caller holds mu.
func (ds *Dispatcher) noteOffline(w *hook, d Delivery, answer Answer) {
	now := ds.clock.Now()
	if w.drop(d.ID) {
		w.put(d)
	}
	w.failures++
	w.rest = now.Add(Pause(w.failures, answer))
	w.LastFailureAt, w.LastError = stamp(now), answer.Error
}

// webhookDevice is what an event of a webhook names as its device.
const webhookDevice = "webhook"

// announce makes the event that webhook changed its state, and of trouble
// the notice to the administrators. The caller holds mu.
func (ds *Dispatcher) announce(w *hook, kind string, d Delivery) {
	details := map[string]any{"webhook_id": w.ID, "organization_id": w.OrganizationID, "host": hostOf(w.URL), "delivery_id": d.ID,
		"pending_deliveries": len(w.waiting)}
	if w.Reason != "" {
		details["reason"] = w.Reason
	}
	row, err := ds.events.Event(eventlog.Record{Type: kind, Time: ds.clock.Now(), Device: webhookDevice, Details: details})
	if err != nil { // not for text and numbers
		return
	}
	ds.rows = append(ds.rows, row)
	if kind != eventRecovered {
		ds.notices = append(ds.notices, noticeOf(w.Webhook, len(w.waiting)))
	}
	ds.log.Warn("a webhook has changed its state", "webhook", w.ID, "host", hostOf(w.URL), "state", w.State, "reason", w.Reason)
}

// hostOf is what of a webhook's address may be shown: the rest may be a secret.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
