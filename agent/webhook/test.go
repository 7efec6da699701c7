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
func (p *Dispatcher) Test(ctx context.Context, id string) (d Delivery, err error) {
	if p.clock.Trust() != clock.Trusted {
		return d, problem.New(problem.NotNow, "", "the clock is not trusted yet, so nothing can be signed that a receiver takes: wait until it is")
	}
	w, d, secrets, err := p.newTest(id)
	if err != nil {
		return d, err
	}
	answer := p.sender.Send(ctx, w.URL, d.ID, d.Payload, secrets)
	p.mu.Lock()
	p.tests--
	if ctx.Err() != nil && !answer.Success() {
		p.mu.Unlock()
		return d, problem.New(problem.Unavailable, "", "the request ended before the receiver answered: try again")
	}
	if d = d.After(answer, p.clock.Now()); d.State == Pending {
		d = d.GivenUp()
	}
	if owner := p.byID[id]; owner != nil {
		owner.put(d)
		p.logHidden(owner, answer)
		p.note(owner, d, answer)
	}
	p.mu.Unlock()
	return d, p.saveAll(context.WithoutCancel(ctx))
}

func (p *Dispatcher) newTest(id string) (w Webhook, d Delivery, secrets []Secret, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	owner := p.byID[id]
	switch {
	case owner == nil:
		return w, d, nil, noWebhook()
	case owner.lost() != "":
		return w, d, nil, problem.New(problem.NotNow, "state", "is disabled: %s", owner.lost())
	case p.tests >= maxTests:
		return w, d, nil, problem.New(problem.Unavailable, "", "%d tests of webhooks are under way: try again in ten seconds", maxTests)
	}
	body, err := TestPayload(owner.Webhook, p.clock.Now())
	if err != nil {
		return w, d, nil, err
	}
	p.tests++
	return owner.Webhook, NewDelivery(p.nextID(), id, EventTest, body, p.clock.Now()), owner.Secrets.At(p.clock.Now()), nil
}
