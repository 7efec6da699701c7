package backend

import (
	"context"
	"time"

	"roomgate/cloud"
)

// errand is what to send to one gateway.
type errand struct {
	gateway string
	ack     uint64
	gap     span
	lost    span // nobody has them any more
}

// acknowledge tells gateways how far their rows have come, until ctx ends. giveUp
// hears of rows that nobody has any more; it must not wait.
func (b *Backend) acknowledge(ctx context.Context, link *cloud.Link, giveUp func(gateway string, lost span)) {
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
				if e.lost.to > 0 {
					giveUp(e.gateway, e.lost)
				}
				b.tell(ctx, link, e)
			}
		}
	}
}

// errands are what to send to gateways now.
func (b *Backend) errands(now time.Time) (due []errand) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for gateway, l := range b.progress {
		if now.Sub(l.contested) < contestTime {
			continue
		}
		e := errand{gateway: gateway, lost: l.lost(now), gap: l.gapToAsk(now)}
		if !now.Before(l.settled) {
			e.ack = l.due()
		}
		if e.ack > 0 || e.gap.to > 0 || e.lost.to > 0 {
			due = append(due, e)
		}
	}
	return due
}

func (b *Backend) tell(ctx context.Context, link *cloud.Link, e errand) {
	if e.gap.to > 0 {
		b.send(ctx, link, e.gateway, cloud.LevelReplay, replay{e.gap.from, e.gap.to})
	}
	if e.ack > 0 && b.send(ctx, link, e.gateway, cloud.LevelAck, ack{e.ack}) {
		b.mu.Lock()
		if l := b.progress[e.gateway]; l != nil { // else it was left meanwhile
			l.acknowledged(e.ack)
		}
		b.mu.Unlock()
	}
}

func (b *Backend) send(ctx context.Context, link *cloud.Link, gateway, level string, data any) bool {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	m, _, err := b.message(gateway, level, cloud.Topics{Gateway: gateway}.Down(level), data)
	if err == nil {
		err = link.Publish(ctx, m)
	}
	if err != nil {
		b.o.Log.Debug("gateway was not told", "gateway", gateway, "what", level, "reason", err)
	}
	return err == nil
}
