package cloud

import (
	"context"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"
)

// What is taken out of order is acknowledged in the order of arrival, and what is not
// taken never.
func TestLaterIsInOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, _ context.Context) {
		var mu sync.Mutex
		var acked []uint16
		wire := newCable(t, func(conn net.Conn) {
			s := script{t, conn}
			defer conn.Close()
			if !s.accept() {
				return
			}
			for id := byte(1); id <= 5; id++ {
				s.write(0x32, 5, 0, 1, 'a', 0, id)
			}
			for p := s.read(); p != nil; p = s.read() {
				if ack, ok := p.(*packets.PubackPacket); ok {
					mu.Lock()
					acked = append(acked, ack.MessageID)
					mu.Unlock()
				}
				s.ack(p)
			}
		})
		var taken []func()
		l := NewLink(LinkOptions{URL: "mqtt://cloud", ClientID: "g", Dial: wire.dial, Log: quiet,
			Deliver: func(_ context.Context, _ Message, done func()) { taken = append(taken, done) }})
		defer run(t, l.Run)()
		synctest.Wait()
		for _, c := range []struct {
			take int
			want []uint16
		}{{2, nil}, {0, []uint16{1}}, {1, []uint16{1, 2, 3}}, {4, []uint16{1, 2, 3}}} {
			taken[c.take]()
			time.Sleep(time.Second)
			mu.Lock()
			if !slices.Equal(acked, c.want) {
				t.Errorf("after %d was taken: acknowledged %v, want %v", c.take+1, acked, c.want)
			}
			mu.Unlock()
		}
	})
}
