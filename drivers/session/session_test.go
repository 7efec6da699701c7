package session

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"

	"roomgate/drivers"
)

func TestBackoff(t *testing.T) {
	for failures, want := range map[int]time.Duration{
		0: 500 * time.Millisecond, 1: time.Second, 4: 8 * time.Second, 5: 15 * time.Second, 1000: 15 * time.Second,
	} {
		seen := map[time.Duration]bool{}
		for range 50 {
			d := backoff(failures)
			seen[d] = true
			if d < want/2 || d > want {
				t.Errorf("after %d failures: %s, want %s to %s", failures, d, want/2, want)
			}
		}
		if len(seen) < 25 {
			t.Errorf("after %d failures: only %d different waits of 50", failures, len(seen))
		}
	}
}

// line is a board with a broker at the other end of each connection.
type line struct {
	drivers.Buses
	broker func(net.Conn)
}

func (l line) Dial(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	go l.broker(far)
	return near, nil
}

// TestSendWaitsForASubscription: the first message comes before the subscription is answered. What is sent then is not
// refused, unless the subscription is.
func TestSendWaitsForASubscription(t *testing.T) {
	for _, code := range []byte{0, subscribeRefused} {
		synctest.Test(t, func(t *testing.T) {
			got := make(chan string, 1)
			broker := func(c net.Conn) {
				defer c.Close()
				for {
					p, err := packets.ReadPacket(c)
					if err != nil {
						return
					}
					switch p := p.(type) {
					case *packets.ConnectPacket:
						_ = packets.NewControlPacket(packets.Connack).Write(c)
					case *packets.SubscribePacket:
						first, _ := packets.NewControlPacket(packets.Publish).(*packets.PublishPacket)
						first.TopicName = "hub/state"
						_ = first.Write(c)
						time.Sleep(time.Second)
						answer, _ := packets.NewControlPacket(packets.Suback).(*packets.SubackPacket)
						answer.MessageID, answer.ReturnCodes = p.MessageID, []byte{code}
						_ = answer.Write(c)
					case *packets.PublishPacket:
						got <- p.TopicName
					}
				}
			}
			heard := make(chan struct{}, 1)
			s := New(Options{Peer: "broker", ClientID: "c", Filters: []string{"hub/#"}, WriteTimeout: 5 * time.Second, Up: func() {},
				Receive: func(string, []byte, bool) { heard <- struct{}{} },
				Tend: func(ctx context.Context, _ func(context.Context) error) error {
					<-ctx.Done()
					return context.Cause(ctx)
				},
				Down: func(error) bool { return false }}, line{broker: broker})
			ctx, cancel := context.WithCancel(t.Context())
			var run sync.WaitGroup
			run.Go(func() { s.Run(ctx) })
			<-heard
			err := s.Send(t.Context(), Message{Topic: "hub/open"})
			if refused := code != 0; refused != errors.Is(err, drivers.ErrOffline) || !refused && (err != nil || <-got != "hub/open") {
				t.Errorf("the broker answers %d: %v", code, err)
			}
			cancel()
			run.Wait()
		})
	}
}

// TestHangingUpIsSaid: nobody outside a program knows what EOF is.
func TestHangingUpIsSaid(t *testing.T) {
	s := &Session{o: Options{Peer: "hub", Address: "o3.example:1883"}}
	if got := s.ended(io.EOF).Error(); got != "hub at o3.example:1883 has closed the connection" {
		t.Errorf("it says %q", got)
	}
	if other := errors.New("pingresp not received"); s.ended(other) != other {
		t.Errorf("%v becomes %v", other, s.ended(other))
	}
}

// TestWhyItIsDown: a broker that hangs up, at once or later, is told so.
func TestWhyItIsDown(t *testing.T) {
	for _, after := range []int{1, 2, 3} { // packets: CONNECT, SUBSCRIBE, PINGREQ
		synctest.Test(t, func(t *testing.T) {
			broker := func(c net.Conn) {
				defer c.Close()
				for range after - 1 {
					p, err := packets.ReadPacket(c)
					if err != nil {
						return
					}
					switch p := p.(type) {
					case *packets.ConnectPacket:
						_ = packets.NewControlPacket(packets.Connack).Write(c)
					case *packets.SubscribePacket:
						answer, _ := packets.NewControlPacket(packets.Suback).(*packets.SubackPacket)
						answer.MessageID, answer.ReturnCodes = p.MessageID, []byte{0}
						_ = answer.Write(c)
					}
				}
				_, _ = packets.ReadPacket(c)
			}
			why := make(chan error, 1)
			ctx, cancel := context.WithCancel(t.Context())
			s := New(Options{Peer: "hub", Address: "o3.example:1883", ClientID: "c", Filters: []string{"hub/#"}, WriteTimeout: 5 * time.Second, Up: func() {}, Receive: func(string, []byte, bool) {},
				Tend: func(ctx context.Context, _ func(context.Context) error) error {
					<-ctx.Done()
					return context.Cause(ctx)
				},
				Down: func(err error) bool {
					select {
					case why <- err:
					default:
					}
					cancel()
					return false
				}}, line{broker: broker})
			s.Run(ctx)
			if got := (<-why).Error(); strings.Contains(got, "EOF") || !strings.Contains(got, "hub at o3.example:1883 has closed the connection") {
				t.Errorf("after %d packets it says %q", after, got)
			}
		})
	}
}
