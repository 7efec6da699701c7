package cloud

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"
)

// Two that have one id throw each other out: they must not do it at full speed,
// and each must notice. When one is gone the other is as before.
func TestTwoWithOneID(t *testing.T) {
	inBubble(t, func(t *testing.T, _ context.Context) {
		_, wire := newBroker(t)
		var told atomic.Int64
		var said strings.Builder
		log := slog.New(slog.NewTextHandler(&said, nil)) // it has a lock of its own
		began := time.Now()
		link := func() *Link {
			return NewLink(LinkOptions{URL: "mqtt://cloud", ClientID: "g", Dial: wire.dial, Log: log,
				Own: Own{Contested: func(context.Context, int) { told.Add(1) }}})
		}
		one, other := link(), link()
		stop := run(t, one.Run)
		defer stop()
		time.Sleep(time.Second) // two that come at one instant may both stay at this broker
		stopOther := run(t, other.Run)
		time.Sleep(time.Hour)
		if one.Contested() < duplicateFrom || other.Contested() < duplicateFrom || told.Load() == 0 {
			t.Errorf("nobody noticed: %d and %d, told %d times, %+v, %+v", one.Contested(), other.Contested(), told.Load(), one.Trouble(), other.Trouble())
		}
		synctest.Wait()
		if since := began.Add(time.Second).UTC().Format(time.RFC3339); !strings.Contains(said.String(), "cause=contested") || !strings.Contains(said.String(), "since="+since) {
			t.Errorf("the log says neither that the session was taken nor since when (%s): %.2000s", since, said.String())
		}
		if wire.dialled() > 360 {
			t.Errorf("%d connections in an hour, about 120 were expected", wire.dialled())
		}
		stopOther()
		time.Sleep(4 * time.Minute)
		if !one.Connected() || one.Contested() != 0 {
			t.Errorf("alone again: connected %v, contested %d", one.Connected(), one.Contested())
		}
	})
}

// A line that is cut now and then, and a broker that is away, are no duplicate id.
func TestNoDuplicateID(t *testing.T) {
	inBubble(t, func(t *testing.T, _ context.Context) {
		_, wire := newBroker(t)
		l := NewLink(LinkOptions{URL: "mqtt://cloud", ClientID: "g", Dial: wire.dial, Log: quiet,
			Own: Own{Contested: func(context.Context, int) { t.Error("somebody was told of a duplicate id") }}})
		stop := run(t, l.Run)
		defer stop()
		for range 20 {
			time.Sleep(3 * time.Minute)
			wire.cut()
		}
		for range 20 {
			wire.unplug(true)
			time.Sleep(10 * time.Minute)
			wire.unplug(false)
			time.Sleep(10 * time.Minute)
		}
		if !l.Connected() || l.Contested() != 0 {
			t.Errorf("connected %v, contested %d", l.Connected(), l.Contested())
		}
	})
}

// presenceOf are the options by which a link writes its own topic and knows itself.
func presenceOf(o LinkOptions, name string) LinkOptions {
	o.Own.Topic, o.Own.Mine = "up/presence", func(m Message) bool { return string(m.Payload) == name }
	o.Birth = func() Message { return Message{Topic: "up/presence", Payload: []byte(name), QoS: 1, Retained: true} }
	o.Will = o.Birth
	return o
}

// Who may read what is on its own topic knows of the other for certain.
func TestTheOtherIsSeen(t *testing.T) {
	inBubble(t, func(t *testing.T, _ context.Context) {
		_, wire := newBroker(t)
		link := func(name string) *Link {
			return NewLink(presenceOf(LinkOptions{URL: "mqtt://cloud", ClientID: "g", Dial: wire.dial, Log: quiet}, name))
		}
		one, other := link("one"), link("other")
		stop := run(t, one.Run)
		defer stop()
		time.Sleep(time.Second) // two that come at one instant may both stay at this broker
		stopOther := run(t, other.Run)
		time.Sleep(time.Hour)
		for _, l := range []*Link{one, other} {
			if l.Contested() < duplicateFrom || l.Trouble().Cause != CauseContested || !l.duplicate.foreign {
				t.Errorf("%d, %+v, seen %v", l.Contested(), l.Trouble(), l.duplicate.foreign)
			}
		}
		if wire.dialled() > 360 {
			t.Errorf("%d connections in an hour, about 120 were expected", wire.dialled())
		}
		stopOther()
		time.Sleep(4 * time.Minute)
		if !one.Connected() || one.Contested() != 0 || one.Trouble().Cause != "" {
			t.Errorf("alone again: connected %v, contested %d, %+v", one.Connected(), one.Contested(), one.Trouble())
		}
	})
}

// faulty is a broker that logs everybody in, answers, and closes as the case says.
type faulty struct {
	hold  func() time.Duration               // how long it keeps a connection; nil: for ever
	close func(p packets.ControlPacket) bool // at which packet
}

func (f faulty) serve(t *testing.T) func(net.Conn) {
	return func(c net.Conn) {
		defer c.Close()
		s := script{t, c}
		if !s.accept() {
			return
		}
		if f.hold != nil {
			defer time.AfterFunc(f.hold(), func() { c.Close() }).Stop()
		}
		for p := s.read(); p != nil && (f.close == nil || !f.close(p)); p = s.read() {
			s.ack(p)
		}
	}
}

func writes(topic string) func(packets.ControlPacket) bool {
	return func(p packets.ControlPacket) bool {
		w, ok := p.(*packets.PublishPacket)
		return ok && w.TopicName == topic
	}
}

// A far end that closes again and again is not somebody with the same id, its reason
// is named if it has one, and the link stays near.
func TestFarEndThatCloses(t *testing.T) {
	atRandom := func() time.Duration { return rand.N(20 * time.Second) }
	for _, c := range []struct {
		name  string
		far   faulty
		proof bool // the own topic can be read: what is written there comes back
		cause Cause
		topic string
	}{
		{"by its own clock", faulty{hold: func() time.Duration { return 7 * time.Second }}, false, CauseClosed, ""},
		{"up/presence is not writable", faulty{close: writes("up/presence")}, false, CauseMayNotWrite, "up/presence"},
		{"up/event is not writable", faulty{close: writes("up/event")}, false, CauseMayNotWrite, "up/event"},
		{"down/ is not readable", faulty{close: func(p packets.ControlPacket) bool { _, ok := p.(*packets.SubscribePacket); return ok }}, false, CauseMayNotRead, "down/#"},
		{"at random", faulty{hold: atRandom}, true, CauseClosed, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, ctx context.Context) {
				_, broker := newBroker(t)
				serve := c.far.serve(t)
				if c.proof {
					serve = func(conn net.Conn) {
						defer time.AfterFunc(c.far.hold(), func() { conn.Close() }).Stop()
						broker.serve(conn)
					}
				}
				wire := newCable(t, serve)
				o := LinkOptions{URL: "mqtt://cloud", ClientID: "g", Dial: wire.dial, Log: quiet, Subscribe: []string{"down/#"},
					Own: Own{Contested: func(context.Context, int) { t.Error("somebody was told of a duplicate id") }}}
				o = presenceOf(o, "one")
				if !c.proof {
					o.Own.Topic = ""
				}
				l := NewLink(o)
				l.o.Up = func(ctx context.Context) {
					l.publishAsync(Message{Topic: "up/event", QoS: 1}, func(error) {})
				}
				defer run(t, l.Run)()
				time.Sleep(time.Hour)
				if got := l.Trouble(); got.Cause != c.cause || got.Topic != c.topic || got.Seen() == "" || got.Fix() == "" {
					t.Errorf("%+v", got)
				}
				if wire.dialled() < 200 {
					t.Errorf("%d connections in an hour: the pauses are too long", wire.dialled())
				}
			})
		})
	}
}

// A broker that starts again and again is no duplicate id. Who may not read its own topic
// knows it as it has met nobody in between.
func TestBrokerThatRestarts(t *testing.T) {
	t.Run("own topic is read", func(t *testing.T) { restarts(t, "up/presence", 0) })
	t.Run("own topic is not read", func(t *testing.T) { restarts(t, "", closedPause) })
}

func restarts(t *testing.T, own string, least time.Duration) {
	inBubble(t, func(t *testing.T, _ context.Context) {
		_, wire := newBroker(t)
		o := presenceOf(LinkOptions{URL: "mqtt://cloud", ClientID: "g", Dial: wire.dial, Log: quiet,
			Own: Own{Contested: func(context.Context, int) { t.Error("somebody was told of a duplicate id") }}}, "one")
		o.Own.Topic = own
		l := NewLink(o)
		defer run(t, l.Run)()
		var took []time.Duration
		for range 60 {
			start := time.Now()
			for !l.Connected() {
				time.Sleep(10 * time.Millisecond)
			}
			took = append(took, time.Since(start))
			time.Sleep(rand.N(20 * time.Second))
			wire.unplug(true)
			time.Sleep(least + rand.N(20*time.Second))
			wire.unplug(false)
		}
		slices.Sort(took)
		if median := took[len(took)/2]; median > 5*time.Second {
			t.Errorf("half of the reconnections took more than %v", median)
		}
	})
}

// A fleet comes back over as long as it was told, and half of it is there after
// half of that.
func TestSpread(t *testing.T) {
	for _, spread := range []time.Duration{2 * time.Second, time.Minute} {
		inBubble(t, func(t *testing.T, _ context.Context) {
			var back []time.Duration
			wire := newCable(t, faulty{}.serve(t))
			up := make(chan struct{}, 1)
			l := NewLink(LinkOptions{URL: "mqtt://cloud", ClientID: "g", Dial: wire.dial, Log: quiet,
				Spread: func() time.Duration { return spread }, Up: func(context.Context) { up <- struct{}{} }})
			defer run(t, l.Run)()
			<-up
			for range 200 {
				time.Sleep(2 * time.Minute)
				start := time.Now()
				wire.cut()
				<-up
				back = append(back, time.Since(start))
			}
			slices.Sort(back)
			median, last := back[len(back)/2], back[len(back)-1]
			t.Logf("spread %v: median %v, last %v", spread, median, last)
			if last > spread+time.Second || last < spread*9/10 || median < spread*3/10 || median > spread*7/10 {
				t.Errorf("spread %v: median %v, last %v", spread, median, last)
			}
		})
	}
}
