package book

import (
	"context"
	"math/rand/v2"
	"time"

	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	"roomgate/agent/message"
	"roomgate/agent/push"
	"roomgate/store"
)

const (
	// pusherStep is the longest that the pusher sleeps.
	pusherStep = time.Hour
	// clockStep is how soon it is looked whether the clock is trusted now.
	clockStep = 10 * time.Second
	// patientTries is after how many answers of 5xx a message steps aside, so
	// that one which the gateway cannot digest does not hold up the others.
	patientTries = 3

	// EventFailed is the event of a message that was not pushed.
	EventFailed = "messageFailed"
	// messageDevice is what an event of a message names as its device.
	messageDevice = "message"
)

// pusher hands what waits to the push gateway. Its own fields need no lock.
type pusher struct {
	*Messages
	fails  int // of the gateway, in a row
	due    time.Time
	events []eventlog.Row // what the log does not have yet
	saved  time.Time
}

// Run sends what waits until ctx ends. Messages that were not taken by then wait for the
// next start.
func (m *Messages) Run(ctx context.Context) error {
	p := &pusher{Messages: m}
	if m.o.Push != nil {
		defer m.o.Push.Close()
	}
	for {
		wait := p.step(ctx)
		select {
		case <-ctx.Done():
			last, cancel := loop.Last(ctx)
			defer cancel()
			p.save(last)
			return nil
		case <-m.posted:
		case <-time.After(max(wait, time.Millisecond)):
		}
	}
}

// step sends what is due, oldest first, and says how long it can wait.
func (p *pusher) step(ctx context.Context) time.Duration {
	next := time.Now().Add(pusherStep)
	for _, e := range p.index.queue() {
		if ctx.Err() != nil {
			break
		}
		next = loop.Earlier(next, p.deal(ctx, e))
		if time.Since(p.saved) > p.o.Flush {
			p.save(ctx)
			p.forget(ctx)
		}
	}
	if !p.save(ctx) {
		next = loop.Earlier(next, time.Now().Add(time.Minute))
	}
	p.forget(ctx)
	return time.Until(next)
}

// deal does what is to be done with a message, and says when to look again.
func (p *pusher) deal(ctx context.Context, e entry) time.Time {
	now, moment := time.Now(), p.o.Moment()
	age, known := moment.Since(e.posted)
	if !known {
		age = moment.Up // at least
	}
	ends := now.Add(e.life - age)
	switch {
	case p.o.Push == nil:
		return p.end(e, message.Failed, "there is no push gateway any more")
	case !ends.After(now):
		return p.end(e, message.Expired, "it expired before the push gateway had taken it")
	case !known:
		p.index.note(e.id, "nobody knows whether it has expired until the clock is trusted", e.tries, time.Time{})
		return now.Add(clockStep)
	}
	if due := loop.Later(p.due, e.due); due.After(now) {
		return loop.Earlier(due, ends)
	}
	return loop.Earlier(p.send(ctx, e), ends)
}

// never is when a message that is done with is looked at again.
func never() time.Time { return time.Now().Add(pusherStep) }

// send makes one attempt, and says when to look again.
func (p *pusher) send(ctx context.Context, e entry) time.Time {
	s, err := p.read(e.id)
	if err != nil {
		p.o.Log.Error("a message cannot be read and is given up", "message", e.id, "error", err)
		p.index.drop(e.id)
		return never()
	}
	if s.Topic == "" {
		return p.end(e, message.Failed, "its topic at the push gateway cannot be read: another gateway has sealed it")
	}
	note := push.Note{ID: s.ID, Topic: s.Topic, Title: s.Title, Body: s.Body, Priority: pushPriority(s.Priority)}
	answer := p.o.Push.Send(ctx, note)
	if ctx.Err() != nil && answer.Kind != push.Taken {
		return never() // we are about to stop, and it comes again
	}
	e.tries++
	switch answer.Kind {
	case push.Taken:
		if p.fails > 0 {
			p.o.Log.Info("the push gateway takes messages again")
		}
		p.fails, p.due = 0, time.Time{}
		p.index.setFailing("")
		return p.end(e, message.Sent, "")
	case push.Never:
		return p.end(e, message.Failed, "the push gateway refused it: "+answer.Error)
	}
	return p.putOff(e, answer)
}

// putOff notes that the gateway took nothing. It is left alone for a while,
// and a message that it cannot digest for longer.
func (p *pusher) putOff(e entry, answer push.Answer) time.Time {
	p.fails++
	p.due = time.Now().Add(push.Backoff(p.fails, answer, rand.Float64()))
	p.index.setFailing(answer.Error)
	if p.fails == 1 {
		p.o.Log.Warn("the push gateway takes no messages, they wait", "error", answer.Error)
	}
	var due time.Time
	if answer.Kind == push.Again && e.tries >= patientTries {
		due = time.Now().Add(push.Backoff(e.tries+1, answer, rand.Float64())) // behind the others
	}
	p.index.note(e.id, "the push gateway: "+answer.Error, e.tries, due)
	return loop.Later(p.due, due)
}

// end notes the outcome of a message.
func (p *pusher) end(e entry, state message.State, reason string) time.Time {
	s, err := p.read(e.id)
	if err != nil {
		p.index.drop(e.id)
		return never()
	}
	now := p.o.Clock.Now()
	s.Push.Attempts = e.tries
	s.Push = s.Push.Ends(state, reason, now)
	if state != message.Sent {
		p.o.Log.Warn("a message was not pushed", "message", s.ID, "state", state, "reason", reason)
		details := map[string]any{"message_id": s.ID, "channel": "push", "state": state, "reason": reason, "source": s.Source}
		row, err := p.o.Events.Event(eventlog.Record{Type: EventFailed, Time: now, Space: s.SpaceID, Device: messageDevice, Details: details})
		if err == nil {
			p.events = append(p.events, row)
		}
	}
	p.index.settle(s)
	return never()
}

// save writes the results in one transaction, and says whether they are
// written. After a power cut a message may be sent again, with the same id.
func (p *pusher) save(ctx context.Context) bool {
	unsaved := p.index.unsavedNow()
	p.saved = time.Now()
	if len(unsaved) == 0 {
		return true
	}
	err := p.o.Events.Update(ctx, func(tx *store.Tx) error {
		for _, s := range unsaved {
			if err := p.keep(tx, s); err != nil {
				return err
			}
		}
		return p.o.Events.Push(tx, p.events...)
	}, func() {
		p.index.saved(unsaved)
		p.events = nil
	})
	if err != nil && ctx.Err() == nil {
		p.o.Log.Error("cannot store message results, keeping them in memory: free space on the disk", "error", err)
	}
	return err == nil
}

// forget drops the oldest messages that are done with, many at a time.
func (p *pusher) forget(ctx context.Context) {
	old := p.index.over()
	if len(old) == 0 {
		return
	}
	err := p.o.DB.Update(ctx, func(tx *store.Tx) error {
		for _, id := range old {
			if err := messages.Delete(tx, id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		p.o.Log.Error("cannot forget old messages", "error", err)
		return
	}
	p.index.drop(old...)
}

// pushPriority is a priority in the numbers of ntfy.
func pushPriority(p message.Priority) int {
	switch p {
	case message.Low:
		return 2
	case message.High:
		return 4
	case message.Urgent:
		return 5
	}
	return 3
}
