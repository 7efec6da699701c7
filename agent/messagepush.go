package agent

import (
	"context"
	"crypto/x509"
	"errors"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"time"

	"roomgate/agent/config"
	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	"roomgate/agent/message"
	"roomgate/agent/push"
	"roomgate/store"
)

const (
	// courierStep is the longest that the courier sleeps.
	courierStep = time.Hour
	// clockStep is how soon it is looked whether the clock is trusted now.
	clockStep = 10 * time.Second
	// patientTries is after how many answers of 5xx a message steps aside, so
	// that one which the gateway cannot digest does not hold up the others.
	patientTries = 3
	// messagesOver is how many more than keepMessages are forgotten at once.
	messagesOver = 50

	eventMessageFailed = "messageFailed"
	// messageDevice is what an event of a message names as its device.
	messageDevice = "message"
)

// newMessageBook prepares the messages; nothing is reached before Run.
func (a *Agent) newMessageBook(client *http.Client) *messageBook {
	b := &messageBook{turn: loop.NewTurn(), posted: loop.NewSignal(), byID: map[string]*postedMessage{},
		byKey: map[string]*postedMessage{}, unsaved: map[string]storedMessage{}}
	c := a.config.Push
	if c.URL == "" {
		return b
	}
	if client == nil {
		client = push.NewClient(a.pushAuthorities(c))
	}
	b.gateway = push.New(c.URL, func() (string, error) { return c.Token.Reveal(c.TokenFile) }, client)
	return b
}

// pushAuthorities are those that the configuration trusts; nil: the system's. A
// file that cannot be read is no reason not to start: then nothing is sent.
func (a *Agent) pushAuthorities(c config.Push) *x509.CertPool {
	if c.CAFile == "" {
		return nil
	}
	pool := x509.NewCertPool()
	pem, err := os.ReadFile(c.CAFile)
	if err == nil && !pool.AppendCertsFromPEM(pem) {
		err = errors.New("it holds no certificate")
	}
	if err != nil {
		a.log.Error("push.ca_file cannot be read, so no push gateway is trusted: correct it and start again", "file", c.CAFile, "error", err)
	}
	return pool
}

// loadMessages reads what was sent and what waits.
func (a *Agent) loadMessages(tx *store.Tx) error {
	for _, s := range messages.All(tx) {
		a.messages.show(s)
	}
	if err := tx.Err(); err != nil {
		a.log.Error("a message cannot be read and is left out", "error", err)
	}
	return nil
}

// courier hands what waits to the push gateway. What belongs to it needs no
// lock.
type courier struct {
	*Agent
	fails int // of the gateway, in a row
	due   time.Time
	told  []eventlog.Row // what the log has to be told
	saved time.Time
}

// runMessages sends what waits until ctx ends. What was not taken by then waits
// for the next start.
func (a *Agent) runMessages(ctx context.Context) error {
	c := &courier{Agent: a}
	if g := a.messages.gateway; g != nil {
		defer g.Close()
	}
	for {
		wait := c.turn(ctx)
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
			defer cancel()
			c.save(last)
			return nil
		case <-a.messages.posted:
		case <-time.After(max(wait, time.Millisecond)):
		}
	}
}

// turn sends what is due, oldest first, and says how long it can wait.
func (c *courier) turn(ctx context.Context) time.Duration {
	next := time.Now().Add(courierStep)
	for _, p := range c.messages.queue() {
		if ctx.Err() != nil {
			break
		}
		next = earlier(next, c.deal(ctx, p))
		if time.Since(c.saved) > c.config.Store.Flush {
			c.save(ctx)
			c.forget(ctx)
		}
	}
	if !c.save(ctx) {
		next = earlier(next, time.Now().Add(time.Minute))
	}
	c.forget(ctx)
	return time.Until(next)
}

// deal does what is to be done with a message, and says when to look again.
func (c *courier) deal(ctx context.Context, p postedMessage) time.Time {
	now := time.Now()
	age, known := c.moment().Since(p.posted)
	if !known {
		age = now.Sub(c.started) // at least
	}
	ends := now.Add(p.life - age)
	switch {
	case c.messages.gateway == nil:
		return c.end(p, message.Failed, "there is no push gateway any more")
	case !ends.After(now):
		return c.end(p, message.Expired, "it expired before the push gateway had taken it")
	case !known:
		c.messages.note(p.id, "nobody knows whether it has expired until the clock is trusted", p.tries, time.Time{})
		return now.Add(clockStep)
	}
	if due := later(c.due, p.due); due.After(now) {
		return earlier(due, ends)
	}
	return earlier(c.send(ctx, p), ends)
}

// never is when a message that is done with is looked at again.
func never() time.Time { return time.Now().Add(courierStep) }

// send makes one attempt, and says when to look again.
func (c *courier) send(ctx context.Context, p postedMessage) time.Time {
	s, err := c.storedMessage(p.id)
	if err != nil {
		c.log.Error("a message cannot be read and is given up", "message", p.id, "error", err)
		c.messages.drop(p.id)
		return never()
	}
	note := push.Note{ID: s.ID, Topic: s.Topic, Title: s.Title, Body: s.Body, Priority: pushPriority(s.Priority)}
	answer := c.messages.gateway.Send(ctx, note)
	if ctx.Err() != nil && answer.Kind != push.Taken {
		return never() // we are about to stop, and it comes again
	}
	p.tries++
	switch answer.Kind {
	case push.Taken:
		if c.fails > 0 {
			c.log.Info("the push gateway takes messages again")
		}
		c.fails, c.due = 0, time.Time{}
		c.messages.setFailing("")
		return c.end(p, message.Sent, "")
	case push.Never:
		return c.end(p, message.Failed, "the push gateway refused it: "+answer.Error)
	}
	return c.putOff(p, answer)
}

// putOff notes that the gateway took nothing. It is left alone for a while,
// and a message that it cannot digest for longer.
func (c *courier) putOff(p postedMessage, answer push.Answer) time.Time {
	c.fails++
	c.due = time.Now().Add(push.Backoff(c.fails, answer, rand.Float64()))
	c.messages.setFailing(answer.Error)
	if c.fails == 1 {
		c.log.Warn("the push gateway takes no messages, they wait", "error", answer.Error)
	}
	var due time.Time
	if answer.Kind == push.Again && p.tries >= patientTries {
		due = time.Now().Add(push.Backoff(p.tries+1, answer, rand.Float64())) // behind the others
	}
	c.messages.note(p.id, "the push gateway: "+answer.Error, p.tries, due)
	return later(c.due, due)
}

// end notes what became of a message.
func (c *courier) end(p postedMessage, state message.State, reason string) time.Time {
	s, err := c.storedMessage(p.id)
	if err != nil {
		c.messages.drop(p.id)
		return never()
	}
	now := c.Now()
	s.Push.Attempts = p.tries
	s.Push = s.Push.Ends(state, reason, now)
	if state != message.Sent {
		c.log.Warn("a message was not pushed", "message", s.ID, "state", state, "reason", reason)
		details := map[string]any{"message_id": s.ID, "channel": "push", "state": state, "reason": reason, "source": s.Source}
		if row, err := c.Events.Event(eventlog.Record{Type: eventMessageFailed, Time: now, Space: s.SpaceID, Device: messageDevice, Details: details}); err == nil {
			c.told = append(c.told, row)
		}
	}
	c.messages.settle(s)
	return never()
}

// save writes what came of messages in one transaction, and says whether it
// is. What a power cut takes is sent again, with the same id.
func (c *courier) save(ctx context.Context) bool {
	b := c.messages
	b.mu.Lock()
	unsaved := maps.Clone(b.unsaved)
	b.mu.Unlock()
	c.saved = time.Now()
	if len(unsaved) == 0 {
		return true
	}
	err := c.db.Update(ctx, func(tx *store.Tx) error {
		for id, s := range unsaved {
			if err := messages.Put(tx, id, s); err != nil {
				return err
			}
		}
		return c.Events.Push(tx, c.told...)
	})
	if err != nil {
		if ctx.Err() == nil {
			c.log.Error("what came of messages cannot be stored, it waits in memory: free space on the disk", "error", err)
		}
		return false
	}
	if len(c.told) > 0 {
		c.told = nil
		c.Events.Grow()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for id := range unsaved { // only the courier writes there
		delete(b.unsaved, id)
	}
	return true
}

// forget drops the oldest messages that are done with, many at a time.
func (c *courier) forget(ctx context.Context) {
	old := c.messages.over()
	if len(old) == 0 {
		return
	}
	err := c.db.Update(ctx, func(tx *store.Tx) error {
		for _, id := range old {
			if err := messages.Delete(tx, id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		c.log.Error("old messages cannot be forgotten", "error", err)
		return
	}
	c.messages.drop(old...)
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

// queue returns what waits for the push gateway, oldest first.
func (b *messageBook) queue() (waiting []postedMessage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.list {
		if p.push == message.Queued {
			waiting = append(waiting, *p)
		}
	}
	return waiting
}

// note says why a message still waits.
func (b *messageBook) note(id, reason string, tries int, due time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.byID[id]; p != nil {
		p.reason, p.tries, p.due = reason, tries, due
	}
}

// settle shows what became of a message. The store has it later.
func (b *messageBook) settle(s storedMessage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.unsaved[s.ID] = s
	if p := b.byID[s.ID]; p != nil {
		p.push, p.tries, p.reason = s.Push.State, s.Push.Attempts, s.Push.Reason
	}
}

func (b *messageBook) setFailing(reason string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failing = reason
}

// over are the ids of the oldest messages that are done with, once there are
// enough of them to be worth a write.
func (b *messageBook) over() (old []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	over := len(b.list) - keepMessages
	if over < messagesOver {
		return nil
	}
	for _, p := range b.list {
		if _, waits := b.unsaved[p.id]; p.push != message.Queued && !waits && len(old) < over {
			old = append(old, p.id)
		}
	}
	return old
}

// drop forgets messages.
func (b *messageBook) drop(ids ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range ids {
		if p := b.byID[id]; p != nil {
			delete(b.byID, id)
			if b.byKey[p.key] == p {
				delete(b.byKey, p.key)
			}
		}
	}
	b.list = slices.DeleteFunc(b.list, func(p *postedMessage) bool { return b.byID[p.id] == nil })
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
