package pull

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"roomgate/cloud"
)

// How many messages of a partition are handed on and not taken, and how long NATS waits for
// one before it sends it again.
const (
	window  = 256
	ackWait = 30 * time.Second
)

// partition is one that this backend has.
type partition struct {
	*running
	subject  string // of its messages
	name     string // of its consumer
	gateways map[string]bool
	stop     context.CancelFunc // what is handed on is still waited for
	abandon  context.CancelFunc // nothing is
	ended    chan struct{}

	mu   sync.Mutex
	open map[uint64]jetstream.Msg // handed on and not taken, by their places in the stream
	idle chan struct{}            // holds a token when none is
}

func contains(all []int, n int) bool { return slices.Contains(all, n) }

// open works on a partition.
func (r *running) open(ctx context.Context, n int) *partition {
	p := &partition{running: r, subject: fmt.Sprintf("up.%d.>", n), name: fmt.Sprintf("up-%d", n), gateways: map[string]bool{}, ended: make(chan struct{}),
		open: map[uint64]jetstream.Msg{}, idle: make(chan struct{}, 1)}
	ctx, p.abandon = context.WithCancel(ctx)
	going, stop := context.WithCancel(ctx)
	p.stop = stop
	go func() {
		defer close(p.ended)
		defer p.abandon()
		for going.Err() == nil {
			if err := p.work(going, ctx); err != nil && going.Err() == nil {
				r.o.Log.Warn("partition cannot be read, trying again", "partition", n, "reason", err)
				wait(going, time.Second)
			}
		}
		p.settle(ctx)
		for gateway := range p.gateways {
			r.left(gateway)
		}
	}()
	return p
}

func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// work reads until going ends or the consumer does not answer. What was handed on before and was not
// taken, by this backend or by the one before it, comes first.
func (p *partition) work(going, ctx context.Context) error {
	p.settle(ctx)
	soon, cancel := context.WithTimeout(going, 10*time.Second)
	defer cancel()
	c, err := p.js.CreateOrUpdateConsumer(soon, p.stream, jetstream.ConsumerConfig{Durable: p.name, FilterSubject: p.subject,
		AckPolicy: jetstream.AckExplicitPolicy, AckWait: ackWait, MaxAckPending: window, MaxDeliver: -1})
	if err == nil && c.CachedInfo().NumAckPending > 0 {
		_, err = p.js.ResetConsumer(soon, p.stream, p.name)
	}
	if err != nil {
		return err
	}
	all, err := c.Messages(jetstream.PullMaxMessages(window), jetstream.PullExpiry(5*time.Second))
	if err != nil {
		return err
	}
	defer all.Stop()
	defer context.AfterFunc(going, all.Stop)()
	renew := time.NewTicker(ackWait / 3)
	defer renew.Stop()
	ends := p.keep(going, renew.C)
	defer ends()
	for {
		m, err := all.Next()
		if err != nil {
			return err
		}
		if err := p.take(ctx, m); err != nil {
			return err
		}
	}
}

// keep tells NATS that what is handed on is still worked on.
func (p *partition) keep(ctx context.Context, every <-chan time.Time) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var loop sync.WaitGroup
	loop.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-every:
				p.mu.Lock()
				for _, m := range p.open {
					_ = m.InProgress() // else it comes again
				}
				p.mu.Unlock()
			}
		}
	})
	return func() { cancel(); loop.Wait() }
}

// take hands a message on.
func (p *partition) take(ctx context.Context, m jetstream.Msg) error {
	about, err := m.Metadata()
	if err != nil {
		return err
	}
	topic, gateway, ok := topicOf(m.Subject())
	if !ok {
		p.o.Log.Warn("message of no gateway is left out", "subject", m.Subject())
		return m.Ack()
	}
	p.gateways[gateway] = true
	place := about.Sequence.Stream
	p.mu.Lock()
	p.open[place] = m
	p.mu.Unlock()
	p.hand(ctx, cloud.Message{Topic: topic, Payload: m.Data(), QoS: 1}, func() {
		if err := m.Ack(); err != nil {
			p.o.Log.Debug("NATS was not told that a message is stored: it comes again", "reason", err)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if delete(p.open, place); len(p.open) == 0 {
			select {
			case p.idle <- struct{}{}:
			default:
			}
		}
	})
	return ctx.Err()
}

// settle waits until all that is handed on is taken.
func (p *partition) settle(ctx context.Context) {
	for {
		p.mu.Lock()
		n := len(p.open)
		p.mu.Unlock()
		if n == 0 {
			return
		}
		select {
		case <-p.idle:
		case <-ctx.Done():
			return
		}
	}
}

// topicOf is the MQTT topic of a message in the stream, up.PARTITION.GATEWAY.LEVEL...: NATS
// has // for a dot there.
func topicOf(subject string) (topic, gateway string, ok bool) {
	words := strings.Split(strings.ReplaceAll(subject, "//", "\x00"), ".")
	if len(words) < 4 {
		return "", "", false
	}
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], "\x00", ".")
	}
	gateway = words[2]
	return cloud.Topics{Gateway: gateway}.Up(strings.Join(words[3:], "/")), gateway, cloud.ValidGateway(gateway)
}
