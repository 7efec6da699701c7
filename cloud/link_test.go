package cloud

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"
)

func TestLinkCarriesMessagesBothWays(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		_, net := newBroker(t)
		var box mailbox
		l := NewLink(LinkOptions{
			URL: "mqtt://cloud", ClientID: "g", Dial: net.dial, Log: quiet,
			Subscribe: []string{"down/a", "down/b"}, Receive: box.receive,
		})
		defer run(t, l.Run)()
		time.Sleep(soon)
		if !l.Connected() {
			t.Fatal("link is not up")
		}
		for i := range 50 {
			if err := l.Publish(ctx, Message{Topic: []string{"down/a", "down/b"}[i%2], Payload: fmt.Append(nil, i), QoS: 1}); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Publish(ctx, Message{Topic: "down/a", Payload: []byte("50")}); err != nil {
			t.Fatal("QoS 0:", err)
		}
		synctest.Wait()
		for i, p := range box.payloads() {
			if p != fmt.Sprint(i) {
				t.Fatalf("message %d is %s", i, p)
			}
		}
		if n := len(box.payloads()); n != 51 {
			t.Fatalf("%d of 51 messages arrived", n)
		}
	})
}

// An acknowledged publish is in the broker's hands; everything else is an
// error, whatever the client makes of it.
func TestPublishIsProvenOnlyByItsPuback(t *testing.T) {
	for _, c := range []struct {
		name string
		far  func(s script, p *packets.PublishPacket)
		ok   bool
	}{
		{"puback", func(s script, p *packets.PublishPacket) { s.ack(p) }, true},
		{"cut before puback", func(s script, p *packets.PublishPacket) {}, false},
		{"puback of another", func(s script, p *packets.PublishPacket) { s.write(0x40, 2, 0x77, 0x77) }, false},
		{"suback instead", func(s script, p *packets.PublishPacket) {
			s.write(0x90, 3, byte(p.MessageID>>8), byte(p.MessageID), 1)
		}, false},
		{"half a puback", func(s script, p *packets.PublishPacket) { s.write(0x40, 2, byte(p.MessageID>>8)) }, false},
		{"puback twice", func(s script, p *packets.PublishPacket) { s.ack(p); s.ack(p) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, ctx context.Context) {
				wire := newCable(t, func(conn net.Conn) {
					s := script{t, conn}
					defer conn.Close()
					if !s.accept() {
						return
					}
					if p, ok := s.read().(*packets.PublishPacket); ok {
						c.far(s, p)
						time.Sleep(time.Second)
					}
				})
				l := NewLink(LinkOptions{URL: "mqtt://cloud", ClientID: "g", Dial: wire.dial, Log: quiet})
				defer run(t, l.Run)()
				synctest.Wait()
				err := l.Publish(ctx, Message{Topic: "up/event", Payload: []byte("x"), QoS: 1})
				if c.ok != (err == nil) || (err != nil && !errors.Is(err, ErrNotConnected)) {
					t.Errorf("Publish returned %v", err)
				}
			})
		})
	}
}

func TestPublishWithoutLink(t *testing.T) {
	l := NewLink(LinkOptions{URL: "mqtt://cloud", ClientID: "g", Log: quiet})
	if err := l.Publish(t.Context(), Message{Topic: "a"}); !errors.Is(err, ErrNotConnected) {
		t.Errorf("Publish returned %v", err)
	}
	called := 0
	l.publishAsync(Message{Topic: "a"}, func(err error) {
		if called++; !errors.Is(err, ErrNotConnected) {
			t.Errorf("publishAsync says %v", err)
		}
	})
	if called != 1 {
		t.Errorf("done was called %d times", called)
	}
}

func TestLinkDropsABrokerThatMisbehaves(t *testing.T) {
	for _, c := range []struct {
		name  string
		bytes []byte
		want  string
	}{
		{"suback with two codes", []byte{0x90, 4, 0, 1, 1, 1}, "4 bytes"},
		{"suback without a code", []byte{0x90, 2, 0, 1}, "2 bytes"},
		{"suback refused", []byte{0x90, 3, 0, 1, 0x80}, "check the rights"},
		{"256 MB announced", []byte{0x30, 0xFF, 0xFF, 0xFF, 0x7F}, "268435455 bytes"},
		{"length without end", []byte{0x30, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F}, "does not end"},
		{"topic longer than packet", []byte{0x30, 4, 0, 9, 'a', 'b'}, "topic of 9"},
		{"no topic", []byte{0x30, 3, 0, 0, 'x'}, "topic of 0"},
		{"QoS 3", []byte{0x36, 6, 0, 1, 'a', 0, 1, 'x'}, "QoS 3"},
		{"second connack", []byte{0x20, 2, 0, 0}, "out of turn"},
		{"a client's packet", []byte{0x82, 6, 0, 1, 0, 1, 'a', 0}, "type 8"},
		{"pingresp with a body", []byte{0xD0, 1, 0}, "type 13"},
		{"silence", nil, "timeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, ctx context.Context) {
				wire := newCable(t, func(conn net.Conn) {
					defer conn.Close()
					if s := (script{t, conn}); s.accept() && s.read() != nil {
						s.write(c.bytes...)
						time.Sleep(time.Minute)
					}
				})
				l := NewLink(LinkOptions{URL: "mqtt://cloud", ClientID: "g", Dial: wire.dial, Log: quiet, Subscribe: []string{"down/#"}})
				up, err := l.once(ctx)
				if up || err == nil || !strings.Contains(err.Error(), c.want) && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("up %v, error %v", up, err)
				}
			})
		})
	}
}

func TestReceiverDecidesAboutAcknowledgement(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		b, net := newBroker(t)
		var box mailbox
		box.refuse(errors.New("disk is full"))
		l := NewLink(LinkOptions{
			URL: "mqtt://cloud", ClientID: "g", Dial: net.dial, Log: quiet,
			Subscribe: []string{"down/#"}, Receive: box.receive, MaxBackoff: 8 * time.Second,
		})
		defer run(t, l.Run)()
		time.Sleep(soon)
		for i := range 5 {
			if err := b.Publish("down/command", fmt.Append(nil, i), false, 1); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		if n := box.tries(); n < 5 || n > 60 {
			t.Errorf("a message that is refused was offered %d times in a minute", n)
		}
		box.refuse(nil)
		time.Sleep(time.Minute)
		got := box.payloads()
		slices.Sort(got)
		if got = slices.Compact(got); len(got) != 5 {
			t.Errorf("of 5 refused messages %v came again", got)
		}
	})
}

// The broker keeps commands while the gateway is away, and no request of the
// gateway's own is mistaken for one of them.
func TestWhatWaitedComesAfterReconnection(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		b, net := newBroker(t)
		var box mailbox
		l := NewLink(LinkOptions{
			URL: "mqtt://cloud", ClientID: "g", Dial: net.dial, Log: quiet,
			Subscribe: []string{"down/command", "down/schedule"}, Receive: box.receive,
			Birth: func() Message {
				return Message{Topic: "up/presence", Payload: []byte("online"), QoS: 1, Retained: true}
			},
		})
		defer run(t, l.Run)()
		time.Sleep(soon)
		net.unplug(true)
		time.Sleep(time.Minute)
		for i := range 20 {
			_ = b.Publish("down/command", fmt.Append(nil, i), false, 1)
		}
		synctest.Wait()
		net.unplug(false)
		time.Sleep(2 * time.Minute)
		got := box.payloads()
		slices.Sort(got)
		if n := len(slices.Compact(got)); n != 20 {
			t.Errorf("%d of 20 messages that waited arrived", n)
		}
		before := box.tries()
		net.cut()
		time.Sleep(time.Minute)
		if !l.Connected() || box.tries() != before {
			t.Errorf("connected %v, %d messages came again that were taken", l.Connected(), box.tries()-before)
		}
	})
}

func TestPresence(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		_, wire := newBroker(t)
		say := func(word string) func() Message {
			return func() Message {
				return Message{Topic: "up/presence", Payload: []byte(word), QoS: 1, Retained: true}
			}
		}
		var box mailbox
		watch := NewLink(LinkOptions{URL: "mqtt://cloud", ClientID: "watch", Dial: newCable(t, wire.serve).dial,
			Subscribe: []string{"up/presence"}, Receive: box.receive, Log: quiet})
		defer run(t, watch.Run)()
		time.Sleep(soon)
		var ups, downs atomic.Int32
		l := NewLink(LinkOptions{URL: "mqtt://cloud", ClientID: "g", Dial: wire.dial, Log: quiet,
			Will: say("lost"), Birth: say("online"), Farewell: say("offline"),
			Up: func(context.Context) { ups.Add(1) }, Down: func(error) { downs.Add(1) }})
		stop := run(t, l.Run)
		time.Sleep(soon)
		wire.cut()
		time.Sleep(soon)
		stop()
		time.Sleep(soon)
		if got, want := fmt.Sprint(box.payloads()), "[online lost online offline]"; got != want {
			t.Errorf("presence was %s, want %s", got, want)
		}
		if ups.Load() != 2 || downs.Load() != 2 {
			t.Errorf("up %d times, down %d times, want 2 and 2", ups.Load(), downs.Load())
		}
	})
}

func TestHalfOpenLinkIsNoticed(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		wire := newCable(t, func(conn net.Conn) {
			s := script{t, conn}
			s.accept()
			for s.read() != nil { // hears everything, says nothing
			}
		})
		l := NewLink(LinkOptions{URL: "mqtt://cloud", ClientID: "g", Dial: wire.dial, Log: quiet})
		start := time.Now()
		if up, err := l.once(ctx); !up || err == nil {
			t.Fatalf("up %v, error %v", up, err)
		}
		if took := time.Since(start); took > 45*time.Second {
			t.Errorf("a dead link was noticed after %v", took)
		}
	})
}

// A broker that reads nothing must not hold up those who publish for longer
// than a write may take.
func TestStuckBroker(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		wire := newCable(t, func(conn net.Conn) {
			script{t, conn}.accept()
			time.Sleep(time.Minute)
			_ = conn.Close()
		})
		l := NewLink(LinkOptions{URL: "mqtt://cloud", ClientID: "g", Dial: wire.dial, Log: quiet})
		defer run(t, l.Run)()
		synctest.Wait()
		start := time.Now()
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if err := l.Publish(short, Message{Topic: "a", QoS: 1}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Publish returned %v", err)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("Publish took %v, its context allowed 1s", took)
		}
		if err := l.Publish(ctx, Message{Topic: "a", QoS: 1}); !errors.Is(err, ErrNotConnected) {
			t.Errorf("Publish returned %v", err)
		}
		if took := time.Since(start); took > 15*time.Second {
			t.Errorf("the stuck broker was left after %v", took)
		}
	})
}

func TestOptionsThatCannotWork(t *testing.T) {
	for _, c := range []struct{ url, id, want string }{
		{"http://x", "g", "want mqtt://"},
		{"mqtt://", "g", "want mqtt://"},
		{"mqtt://x/path", "g", "path"},
		{"mqtt://u:secret@x/path", "g", "path"},
		{"mqtt://u:sec ret@x", "g", "cannot be read"},
		{"mqtt://x", "", "client id"},
	} {
		err := NewLink(LinkOptions{URL: c.url, ClientID: c.id}).Run(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "sec") {
			t.Errorf("%q: %v", c.url, err)
		}
	}
	for url, want := range map[string]string{
		"mqtt://h": "h:1883", "mqtts://h": "h:8883", "mqtt://h:1": "h:1", "mqtt://[::1]": "[::1]:1883",
	} {
		if b, err := target(url); err != nil || b.address != want {
			t.Errorf("%s goes to %q, %v", url, b.address, err)
		}
	}
}

func TestAnotherLoginIsUsedAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		var seen, user atomic.Value // string
		seen.Store("")
		user.Store("old")
		wire := newCable(t, func(conn net.Conn) {
			s := script{t, conn}
			hello, ok := s.read().(*packets.ConnectPacket)
			if !ok {
				return
			}
			seen.Store(seen.Load().(string) + " " + hello.Username + "/" + string(hello.Password))
			if hello.Username == "wrong" {
				s.write(0x20, 2, 0, 5)
				return
			}
			s.write(0x20, 2, 0, 0)
			for p := s.read(); p != nil; p = s.read() {
				if publish, ok := p.(*packets.PublishPacket); ok {
					seen.Store(seen.Load().(string) + " " + string(publish.Payload))
				}
				s.ack(p)
			}
		})
		l := NewLink(LinkOptions{URL: "mqtt://cloud", ClientID: "g", Dial: wire.dial, Log: quiet, MaxBackoff: time.Hour,
			Farewell: func() Message { return Message{Topic: "up/presence", Payload: []byte("bye"), QoS: 1} },
			Login:    func() (string, string, error) { return user.Load().(string), "p", nil }})
		l.Renew() // nothing is there yet to be renewed
		stop := run(t, l.Run)
		time.Sleep(soon)
		user.Store("new")
		l.Renew()
		time.Sleep(time.Millisecond) // without a pause
		if got := seen.Load(); got != " old/p bye new/p" {
			t.Errorf("the broker saw%s", got)
		}
		time.Sleep(soon)
		user.Store("wrong")
		l.Renew()
		time.Sleep(3 * time.Hour)
		if l.Connected() {
			t.Error("connected with a wrong login")
		}
		seen.Store("")
		user.Store("right")
		l.Renew() // does not wait for the pause to end
		time.Sleep(soon)
		stop()
		if got := seen.Load(); got != " right/p bye" {
			t.Errorf("the broker saw%s", got)
		}
	})
}
