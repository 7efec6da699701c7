package cloud

import (
	"context"
	"sync/atomic"
	"testing"
	"time"
)

// Two that have one id throw each other out: they must not do it at full speed,
// and each must notice. When one is gone the other is as before.
func TestTwoWithOneID(t *testing.T) {
	inBubble(t, func(t *testing.T, _ context.Context) {
		_, wire := newBroker(t)
		var told atomic.Int64
		link := func() *Link {
			return NewLink(LinkOptions{URL: "mqtt://cloud", ClientID: "g", Dial: wire.dial, Log: quiet,
				Contested: func(context.Context, int) { told.Add(1) }})
		}
		one, other := link(), link()
		stop, stopOther := run(t, one.Run), run(t, other.Run)
		defer stop()
		time.Sleep(time.Hour)
		if one.Contested() < duplicateFrom || other.Contested() < duplicateFrom || told.Load() == 0 {
			t.Errorf("nobody noticed: %d and %d, told %d times", one.Contested(), other.Contested(), told.Load())
		}
		if wire.dials > 360 {
			t.Errorf("%d connections in an hour, about 120 were expected", wire.dials)
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
			Contested: func(context.Context, int) { t.Error("somebody was told of a duplicate id") }})
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
