package cloud

import (
	"context"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"
)

// What an earlier version has subscribed to is taken back after the new filter holds,
// and before the birth: no message is missed between the two.
func TestEarlierFiltersAreTakenBack(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		var seen []string
		wire := newCable(t, func(conn net.Conn) {
			s := script{t, conn}
			defer conn.Close()
			for accepted := s.accept(); accepted; {
				switch p := s.read().(type) {
				case *packets.SubscribePacket:
					seen = append(seen, "subscribe "+p.Topics[0])
					s.ack(p)
				case *packets.UnsubscribePacket:
					seen = append(seen, append([]string{"unsubscribe"}, p.Topics...)...)
					s.write(0xB0, 2, byte(p.MessageID>>8), byte(p.MessageID))
				case *packets.PublishPacket:
					seen = append(seen, "publish "+p.TopicName)
					s.ack(p)
					s.write(0xB0, 2, 0, 9) // nobody has asked
				case nil:
					return
				}
			}
		})
		l := NewLink(LinkOptions{URL: "mqtt://cloud", ClientID: "g", Dial: wire.dial, Log: quiet, MaxBackoff: time.Hour, Spread: func() time.Duration { return time.Hour },
			Subscribe: []string{"down/+"}, Unsubscribe: []string{"down/a", "down/b"}, Birth: func() Message { return Message{Topic: "up", QoS: 1} }})
		defer run(t, l.Run)()
		synctest.Wait()
		if want := []string{"subscribe down/+", "unsubscribe", "down/a", "down/b", "publish up"}; !slices.Equal(seen, want) {
			t.Errorf("the broker saw %q", seen)
		}
		if l.Connected() {
			t.Error("an UNSUBACK out of turn was taken")
		}
	})
}
