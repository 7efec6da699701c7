package cloud

import (
	"strings"
	"sync"

	"github.com/eclipse/paho.mqtt.golang/packets"
)

// proofs is the client's message store for one connection, and where delivery
// is decided. The client puts a PUBLISH in before it sends it and deletes it
// only when it has read the PUBACK; nothing else is proof, and nothing is kept
// for another connection.
type proofs struct {
	mu      sync.Mutex
	next    func(error)            // whose PUBLISH is put in next
	waiting map[string]func(error) // by the client's key "o.<packet id>"
}

func newProofs() *proofs { return &proofs{waiting: map[string]func(error){}} }

// expect says whom the next PUBLISH belongs to. One message is handed to the
// client at a time.
func (p *proofs) expect(done func(error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next = done
}

// Put is called by the client, in the goroutine that publishes.
func (p *proofs) Put(key string, packet packets.ControlPacket) {
	if _, ok := packet.(*packets.PublishPacket); !ok || !strings.HasPrefix(key, "o.") {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting[key], p.next = p.next, nil
}

// Del is called by the client when it has read the PUBACK.
func (p *proofs) Del(key string) {
	if done := p.take(key); done != nil {
		done(nil)
	}
}

func (p *proofs) take(key string) func(error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	done := p.waiting[key]
	delete(p.waiting, key)
	return done
}

// withdraw gives back the message that was expected or put under key, unless
// it is already decided.
func (p *proofs) withdraw(key string) func(error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if done := p.next; done != nil {
		p.next = nil
		return done
	}
	done := p.waiting[key]
	delete(p.waiting, key)
	return done
}

// fail decides everything that waits.
func (p *proofs) fail(err error) {
	p.mu.Lock()
	waiting := p.waiting
	p.waiting = map[string]func(error){}
	p.mu.Unlock()
	for _, done := range waiting {
		done(err)
	}
}

// Open, Close, Reset, Get and All complete the client's interface: there is
// never anything to find.

func (p *proofs) Open()                            {}
func (p *proofs) Close()                           {}
func (p *proofs) Reset()                           {}
func (p *proofs) Get(string) packets.ControlPacket { return nil }
func (p *proofs) All() []string                    { return nil }
