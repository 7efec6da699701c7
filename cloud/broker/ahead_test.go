package broker

import (
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"

	"roomgate/cloud/guest"
)

// fillTurns takes all turns to have a password looked at; free gives them back.
func (b *Broker) fillTurns(t *testing.T) (free func()) {
	for range b.guesses.hashing.Most {
		b.guesses.hashing.Take(t.Context(), guest.Network(netip.MustParseAddr("198.51.100.1")))
	}
	return func() {
		for range b.guesses.hashing.Most {
			b.guesses.hashing.Done()
		}
	}
}

// present is how many connections have a place.
func (b *Broker) present() int {
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.conns)
}

// TestWhoHangsUpWaitsForNoPassword: a client that is gone before its password had its turn leaves its place at once, whatever it
// has sent ahead.
func TestWhoHangsUpWaitsForNoPassword(t *testing.T) {
	for _, ahead := range []int{0, 1, 10} {
		bubble(t, house(), func(t *testing.T, b *Broker) {
			free := b.fillTurns(t)
			c := from(t, b, "192.0.2.7")
			c.send(login(hello("a/1"), "a", "a-secret"))
			for range ahead {
				c.send(packets.NewControlPacket(packets.Pingreq))
			}
			if n := b.present(); n != 1 {
				t.Fatalf("%d connections wait", n)
			}
			_ = c.conn.Close()
			if n := b.present(); n != 0 {
				t.Errorf("with %d packets ahead it has its place still", ahead)
			}
			free()
		})
	}
}

// TestWhatIsSentAheadIsTaken: whoever does not wait for the answer to his CONNECT loses nothing while his password waits, and
// has as long to send it as ever.
func TestWhatIsSentAheadIsTaken(t *testing.T) {
	for _, filters := range []int{1, 200} { // the second is more than what is read ahead
		bubble(t, house(), func(t *testing.T, b *Broker) {
			free := b.fillTurns(t)
			c := from(t, b, "192.0.2.7")
			c.send(login(hello("a/1"), "a", "a-secret"))
			p := packets.NewControlPacket(packets.Subscribe).(*packets.SubscribePacket)
			p.MessageID, p.Qos = 7, 1
			for range filters {
				p.Topics, p.Qoss = append(p.Topics, "dev/a/#"), append(p.Qoss, 1)
			}
			sent := make(chan struct{})
			go func() { c.send(p); close(sent) }()
			time.Sleep(time.Second)
			free()
			if ack, ok := c.read().(*packets.ConnackPacket); !ok || ack.ReturnCode != 0 {
				t.Fatalf("%d filters: CONNACK: %+v", filters, ack)
			}
			if ack, ok := c.read().(*packets.SubackPacket); !ok || ack.MessageID != 7 {
				t.Errorf("%d filters: SUBACK: %+v", filters, ack)
			}
			<-sent
			time.Sleep(30 * time.Second)
			if c.send(packets.NewControlPacket(packets.Pingreq)); c.read() == nil {
				t.Error("it was cut off by the time for CONNECT")
			}
		})
	}
}

// TestAheadOfTLS: a client over TLS comes in after its password has waited, and is noticed when it hangs up.
func TestAheadOfTLS(t *testing.T) {
	for _, hangUp := range []bool{true, false} {
		bubble(t, house(), func(t *testing.T, b *Broker) {
			free := b.fillTurns(t)
			near, far := net.Pipe()
			w, err := b.admit(far, netip.MustParseAddr("192.0.2.7"), false)
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				defer b.release(w)
				_ = b.serve(w, &tls.Config{Certificates: []tls.Certificate{selfSigned(t)}})
			}()
			c := &client{t, tls.Client(near, &tls.Config{InsecureSkipVerify: true})}
			c.send(login(hello("a/1"), "a", "a-secret"))
			c.send(packets.NewControlPacket(packets.Pingreq))
			time.Sleep(time.Second)
			if hangUp {
				_ = c.conn.Close()
				if n := b.present(); n != 0 {
					t.Error("it has its place still")
				}
				free()
			} else {
				free()
				if ack, ok := c.read().(*packets.ConnackPacket); !ok || ack.ReturnCode != 0 {
					t.Errorf("CONNACK: %+v", ack)
				}
				if _, ok := c.read().(*packets.PingrespPacket); !ok {
					t.Error("what it sent ahead is lost")
				}
				_ = c.conn.Close()
			}
			<-ended
		})
	}
}

func selfSigned(t *testing.T) tls.Certificate {
	t.Helper()
	public, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	raw, err := x509.CreateCertificate(nil, template, template, public, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}
}
