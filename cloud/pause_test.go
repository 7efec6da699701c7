package cloud

import (
	"context"
	"testing"
	"time"
)

func TestReconnectionIsSpread(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		wire := &cable{out: true}
		l := NewLink(LinkOptions{URL: "mqtt://cloud", ClientID: "g", Dial: wire.dial, Log: quiet, MaxBackoff: time.Minute})
		stop := run(t, l.Run)
		time.Sleep(time.Hour)
		stop()
		if wire.dialled() < 450 || wire.dialled() > 800 {
			t.Errorf("%d attempts in an hour, about 600 were expected", wire.dialled())
		}
	})
	minute := func() time.Duration { return time.Minute }
	two := func() time.Duration { return 2 * time.Second }
	for _, c := range []struct {
		cause  Cause
		spread func() time.Duration
		most   []time.Duration
	}{
		{CauseContested, nil, []time.Duration{1, 2, 4, 8, 16, 32, 60, 60, 60}},
		{CauseLogin, two, []time.Duration{2, 2, 4, 8, 16, 32, 60, 60, 60}},
		{CauseClosed, two, []time.Duration{2, 2, 4, 6, 6, 6}},
		{CauseMayNotWrite, two, []time.Duration{2, 2, 4, 6, 6, 6}},
		{CauseUnreachable, two, []time.Duration{2, 2, 4, 8, 12, 12}},
		{CauseClosed, minute, []time.Duration{60, 60, 60, 60}},
		{CauseUnreachable, minute, []time.Duration{60, 60, 60, 60}},
	} {
		l := NewLink(LinkOptions{Spread: c.spread})
		for try, most := range c.most {
			var low, high time.Duration = time.Hour, 0
			for range 2000 {
				p := l.pause(try, c.cause)
				low, high = min(low, p), max(high, p)
			}
			if most *= time.Second; high > most+1 || high < most*9/10 || low > most/10 {
				t.Errorf("%s: pause %d ranges from %v to %v, want all of 0 to %v", c.cause, try, low, high, most)
			}
		}
	}
}

// Since when there is no connection is counted from the first trouble of a row. One
// that holds for a minute ends the row, one that does not is part of it.
func TestTroubleSaysSinceWhen(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		_, wire := newBroker(t)
		l := NewLink(LinkOptions{URL: "mqtt://cloud", ClientID: "g", Dial: wire.dial, Log: quiet})
		defer run(t, l.Run)()
		time.Sleep(5 * time.Minute)
		wire.unplug(true)
		time.Sleep(time.Hour)
		wire.unplug(false)
		time.Sleep(20 * time.Second) // it is back within 12 s, and does not hold
		wire.unplug(true)
		time.Sleep(2 * time.Hour)
		if met := l.Trouble(); time.Since(met.Since).Round(time.Minute) != 3*time.Hour || met.Times < 100 {
			t.Errorf("away for three hours: since %v, %d times", time.Since(met.Since), met.Times)
		}
		wire.unplug(false)
		time.Sleep(5 * time.Minute)
		if met := l.Trouble(); met.Cause != "" {
			t.Errorf("back: %+v", met)
		}
		wire.unplug(true)
		time.Sleep(10 * time.Minute)
		if met := l.Trouble(); time.Since(met.Since).Round(time.Minute) != 10*time.Minute || met.Times > 150 {
			t.Errorf("away once more: since %v, %d times", time.Since(met.Since), met.Times)
		}
	})
}
