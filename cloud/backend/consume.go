package backend

import (
	"context"
	"time"

	"roomgate/cloud"
)

// maxKept bounds the topics of which the last retained message is remembered.
const maxKept = 10_000

// receive hands a message on unless it was before.
func (b *Backend) receive(m cloud.Message, f func(gateway, level string, e cloud.Envelope) error) error {
	gateway, up, level, rest, ok := cloud.ParseTopic(m.Topic)
	if !ok || !up {
		return nil
	}
	e, err := cloud.Decode(m.Payload)
	if err == nil && !cloud.TypeFits(level, e.Type) {
		err = &cloud.EnvelopeError{Field: "type", Problem: "does not fit the topic"}
	}
	if err != nil {
		b.o.Log.Warn("message of a gateway is left out", "topic", m.Topic, "reason", err)
		return nil // it would be no better the next time
	}
	if rest != "" {
		level += "/" + rest
	}
	row := level == "event" || level == "receipt" || level == "booking" || level == "message"
	if !b.isNew(gateway, row, m, e) {
		return nil
	}
	if err := f(gateway, level, e); err != nil {
		return err
	}
	b.mark(gateway, row, m, e)
	return nil
}

// isNew asks the ledger about an outbox row. What is on another topic is not
// part of the stream: its sequence only says which row was the last by then,
// and that row may still be on its way. Retained, it says how things stand,
// again with each subscription.
func (b *Backend) isNew(gateway string, row bool, m cloud.Message, e cloud.Envelope) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !row || e.Sequence == 0 {
		return !m.Retained || b.kept[m.Topic] != e.ID
	}
	l := b.ledgers[gateway]
	if l == nil {
		l = &ledger{}
		b.ledgers[gateway] = l
	}
	if l.restarted(e.BootID, e.Sequence) {
		b.o.Log.Warn("gateway begins its sequence again", "gateway", gateway, "sequence", e.Sequence)
		*l = ledger{}
	}
	l.saw(e.Sequence, time.Now())
	if l.has(e.Sequence) {
		l.again = true // it did not hear the acknowledgement
		return false
	}
	return true
}

func (b *Backend) mark(gateway string, row bool, m cloud.Message, e cloud.Envelope) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case row && e.Sequence > 0:
		b.ledgers[gateway].add(e.BootID, e.Sequence)
	case m.Retained:
		if len(b.kept) >= maxKept {
			clear(b.kept)
		}
		b.kept[m.Topic] = e.ID
	}
}

// errand is what one gateway is to be told.
type errand struct {
	gateway string
	ack     uint64
	gap     span
}

// acknowledge tells gateways how far their rows have come, until ctx ends.
func (b *Backend) acknowledge(ctx context.Context, link *cloud.Link) {
	t := time.NewTicker(b.o.AckEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-t.C:
			if !link.Connected() {
				continue
			}
			for _, e := range b.errands(now) {
				b.tell(ctx, link, e)
			}
		}
	}
}

func (b *Backend) errands(now time.Time) (due []errand) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for gateway, l := range b.ledgers {
		if lost := l.giveUp(now); lost.to > 0 {
			b.o.Log.Error("rows of a gateway never came", "gateway", gateway, "from", lost.from, "to", lost.to)
		}
		e := errand{gateway: gateway, gap: l.gapToAsk(now)}
		e.ack = l.due()
		if e.ack > 0 || e.gap.to > 0 {
			due = append(due, e)
		}
	}
	return due
}

func (b *Backend) tell(ctx context.Context, link *cloud.Link, e errand) {
	if e.gap.to > 0 {
		b.send(ctx, link, e.gateway, "replay", replay{e.gap.from, e.gap.to})
	}
	if e.ack > 0 && b.send(ctx, link, e.gateway, "ack", ack{e.ack}) {
		b.mu.Lock()
		b.ledgers[e.gateway].acknowledged(e.ack)
		b.mu.Unlock()
	}
}

func (b *Backend) send(ctx context.Context, link *cloud.Link, gateway, level string, data any) bool {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	m, _, err := b.message(gateway, level, data)
	if err == nil {
		err = link.Publish(ctx, m)
	}
	if err != nil {
		b.o.Log.Debug("gateway was not told", "gateway", gateway, "what", level, "reason", err)
	}
	return err == nil
}
