package cloud

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// How long a backend is silent does not begin again with what is sent again, nor with
// another connection; the time without one is not its own.
func TestSilenceGoesOn(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		p := newPlant(t, UplinkOptions{Window: 10})
		silent := func(least, most time.Duration) {
			t.Helper()
			synctest.Wait()
			if got := p.up.Silent(); got < least || got > most {
				t.Errorf("silent for %v, want %v to %v", got, least, most)
			}
		}
		time.Sleep(time.Second)
		p.box.add(3)
		p.up.Wake()
		for at := 10 * time.Minute; at <= time.Hour; at += 10 * time.Minute {
			time.Sleep(10 * time.Minute)
			silent(at-time.Second, at+time.Second)
		}
		p.unplug(true)
		time.Sleep(time.Hour)
		p.unplug(false)
		time.Sleep(10 * time.Minute)
		silent(time.Hour, time.Hour+12*time.Minute)
		p.up.Acked(3)
		silent(0, 0)
		p.box.add(1)
		p.up.Wake()
		time.Sleep(time.Minute)
		silent(59*time.Second, time.Minute)
	})
}
