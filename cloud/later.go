package cloud

import (
	"sync"

	mqtt "github.com/eclipse/paho.mqtt.golang"
)

// later are the messages that are acknowledged once somebody says so. They are
// acknowledged in the order in which they came, as MQTT 3.1.1 demands (4.6), whichever
// was taken first.
type later struct {
	mu    sync.Mutex
	due   []*delivery // oldest first
	ready chan struct{}
}

// delivery is a message that was handed on.
type delivery struct {
	mqtt.Message
	taken bool
}

func (l *later) add(m mqtt.Message) *delivery {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := &delivery{Message: m}
	l.due = append(l.due, d)
	return d
}

func (l *later) take(d *delivery) {
	l.mu.Lock()
	d.taken = true
	l.mu.Unlock()
	signal(l.ready)
}

// next is the oldest message if it was taken, and nil otherwise.
func (l *later) next() *delivery {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.due) == 0 || !l.due[0].taken {
		return nil
	}
	d := l.due[0]
	l.due = l.due[1:]
	return d
}

// deliver hands a message to who acknowledges it later.
func (s *session) deliver(m mqtt.Message) {
	d := s.later.add(m)
	s.link.o.Deliver(s.ctx, Message{Topic: m.Topic(), Payload: m.Payload(), QoS: m.Qos(), Retained: m.Retained(), Duplicate: m.Duplicate()}, func() { s.later.take(d) })
}

// laterLoop acknowledges what was taken.
func (s *session) laterLoop() {
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-s.later.ready:
		}
		for d := s.later.next(); d != nil && s.ctx.Err() == nil; d = s.later.next() {
			d.Ack()
			s.budget.Release(int64(len(d.Payload())))
		}
	}
}
