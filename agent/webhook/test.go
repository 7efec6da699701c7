package webhook

import (
	"context"

	"roomgate/agent/clock"
	"roomgate/agent/problem"
)

// maxTests is how many tests run at the same time.
const maxTests = 4

// Test sends a notification with made-up values once, waits for the
// answer, which takes at most 10 s, and returns the result. It is in the
// log like every other. A success ends failing; a failure changes nothing, but
// a 410 disables.
func (ds *Dispatcher) Test(ctx context.Context, id string) (d Delivery, err error) {
	if ds.clock.Trust() != clock.Trusted {
		return d, problem.New(problem.NotNow, "", "the clock is not trusted yet, so nothing can be signed that a receiver takes: wait until it is")
	}
	w, d, secrets, err := ds.newTest(id)
	if err != nil {
		return d, err
	}
	answer := ds.sender.Send(ctx, w.URL, d.ID, d.Payload, secrets)
	ds.mu.Lock()
	ds.tests--
	if ctx.Err() != nil && !answer.Success() {
		ds.mu.Unlock()
		return d, problem.New(problem.Unavailable, "", "the request ended before the receiver answered: try again")
	}
	if d = d.After(answer, ds.clock.Now()); d.State == Pending {
		d = d.GivenUp()
	}
	if owner := ds.byID[id]; owner != nil {
		owner.put(d)
		ds.logHidden(owner, answer)
		ds.note(owner, d, answer)
	}
	ds.mu.Unlock()
	return d, ds.saveAll(context.WithoutCancel(ctx))
}

func (ds *Dispatcher) newTest(id string) (w Webhook, d Delivery, secrets []Secret, err error) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	owner := ds.byID[id]
	switch {
	case owner == nil:
		return w, d, nil, noWebhook()
	case owner.lost() != "":
		return w, d, nil, problem.New(problem.NotNow, "state", "is disabled: %s", owner.lost())
	case ds.tests >= maxTests:
		return w, d, nil, problem.New(problem.Unavailable, "", "%d tests of webhooks are under way: try again in ten seconds", maxTests)
	}
	body, err := TestPayload(owner.Webhook, ds.clock.Now())
	if err != nil {
		return w, d, nil, err
	}
	ds.tests++
	return owner.Webhook, NewDelivery(ds.nextID(), id, EventTest, body, ds.clock.Now()), owner.Secrets.At(ds.clock.Now()), nil
}
