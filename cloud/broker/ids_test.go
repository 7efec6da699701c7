package broker

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"
	mqtt "github.com/mochi-mqtt/server/v2"
	router "github.com/mochi-mqtt/server/v2/packets"
)

// slowly makes the router take a second between looking a session up and entering
// it, and five seconds the first time that it ends one.
type slowly struct {
	mqtt.HookBase
	ended atomic.Bool
}

func (*slowly) ID() string { return "slowly" }

func (*slowly) Provides(moment byte) bool {
	return slices.Contains([]byte{mqtt.OnSessionEstablish, mqtt.OnUnsubscribed}, moment)
}

func (*slowly) OnSessionEstablish(*mqtt.Client, router.Packet) { time.Sleep(time.Second) }

func (s *slowly) OnUnsubscribed(*mqtt.Client, router.Packet) {
	if s.ended.CompareAndSwap(false, true) {
		time.Sleep(5 * time.Second)
	}
}

// TestOneClientHasAnID: clients with one id connect at the same instant, or while one
// with it leaves, whose session had been there or not. One of them stays, the broker
// knows it, and it hears what is said to it.
func TestOneClientHasAnID(t *testing.T) {
	for _, stay := range []bool{false, true} {
		for _, first := range []string{"nobody", "one that stays", "one that leaves"} {
			t.Run(fmt.Sprint("session stays: ", stay, ", ", first), func(t *testing.T) {
				bubble(t, local, func(t *testing.T, b *Broker) {
					if err := b.server.AddHook(&slowly{}, nil); err != nil {
						t.Fatal(err)
					}
					as := func() *packets.ConnectPacket {
						p := hello("display")
						p.CleanSession = !stay
						return p
					}
					if first != "nobody" {
						c := join(t, b, as())
						c.subscribe(1, "old", 1)
						if first == "one that leaves" {
							_ = c.conn.Close()
							synctest.Wait()
						}
					}
					heard := make(chan string, 8)
					for range 3 {
						c := dial(t, b)
						go func() {
							if c.connect(as()) == 0 && c.subscribe(1, "new", 1) == 1 {
								if got := c.next(); got != "" {
									heard <- got
								}
							}
						}()
					}
					time.Sleep(10 * time.Second)
					synctest.Wait()
					b.mu.Lock()
					connected := len(b.conns)
					b.mu.Unlock()
					cl, known := b.server.Clients.Get(session("", "display"))
					if connected != 1 || !known || cl.Closed() {
						t.Errorf("%d are connected, and the broker knows one that is: %v", connected, known && !cl.Closed())
					}
					_ = b.Publish("new", []byte("hello"), false, 1)
					synctest.Wait()
					if len(heard) != 1 {
						t.Errorf("%d heard it", len(heard))
					}
				})
			})
		}
	}
}
