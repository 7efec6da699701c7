package parts

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/sim"
)

func value(v any) drivers.Args { return drivers.Args{drivers.ValueName: v} }

// lit are the LEDs that shine.
func (b *bench) lit() int {
	n := 0
	for _, p := range b.ring.Pixels() {
		if p.R|p.G|p.B != 0 && p.Brightness > 0 {
			n++
		}
	}
	return n
}

func TestRingShowsWhatIsOrdered(t *testing.T) {
	on(t, func(b *bench) {
		ring := func(action string, args drivers.Args) drivers.Status {
			return b.do(drivers.SubRing, action, args)
		}
		all := func(r, g, bl byte) {
			b.Helper()
			for i, p := range b.ring.Pixels() {
				if p != (sim.Pixel{R: r, G: g, B: bl, Brightness: 31}) {
					b.Fatalf("led %d shows %+v", i, p)
				}
			}
		}
		all(0, 0, 0)
		s := ring(drivers.ActColor, value("#ff8800"))
		if s.Value != drivers.On || s.Details["color"] != "#ff8800" {
			b.Fatalf("%+v", s)
		}
		all(0xff, 0x88, 0)
		ring(drivers.ActBrightness, value(50.0))
		all(0x80, 0x44, 0)
		if s := ring(drivers.ActBrightness, value(0.0)); s.Value != drivers.Off {
			b.Fatalf("brightness 0 is %s", s.Value)
		}
		all(0, 0, 0)
		ring(drivers.ActOn, nil)
		all(0x80, 0x44, 0)
		b.must(b.hub.Close())
		all(0, 0, 0)
	})
}

func TestRingMovesUntilItIsToldNotTo(t *testing.T) {
	on(t, func(b *bench) {
		seen := map[int]bool{} // how many were lit
		move := func(pattern string, d time.Duration) {
			clear(seen)
			b.do(drivers.SubRing, drivers.ActPattern, value(pattern))
			for began := time.Now(); time.Since(began) < d; time.Sleep(10 * time.Millisecond) {
				seen[b.lit()] = true
			}
		}
		if move(blink, 2*time.Second); !seen[0] || !seen[12] || len(seen) != 2 {
			b.Errorf("blinking, %v are lit", seen)
		}
		if move(rotate, 2*time.Second); seen[0] || seen[12] {
			b.Errorf("turning, %v are lit", seen)
		}
		if move(breathe, 4*time.Second); !seen[0] || !seen[12] {
			b.Errorf("breathing, %v are lit", seen)
		}
		if move(solid, time.Second); !seen[12] || len(seen) != 1 {
			b.Errorf("solid, %v are lit", seen)
		}
		move(rotate, time.Second)
		b.do(drivers.SubRing, drivers.ActOff, nil)
		time.Sleep(time.Second)
		if b.lit() != 0 {
			b.Error("switched off, it moves on")
		}
	})
}

func TestRingHeals(t *testing.T) {
	on(t, func(b *bench) {
		b.do(drivers.SubRing, drivers.ActPattern, value(rotate))
		b.ring.Unplug()
		time.Sleep(time.Second)
		if s := b.status(drivers.SubRing); s.Err == nil {
			b.Fatalf("unplugged it is %s", s.Value)
		}
		b.ring.Plug()
		time.Sleep(2 * time.Second)
		if s := b.status(drivers.SubRing); s.Value != drivers.On || b.lit() == 0 {
			b.Fatalf("plugged in again: %+v", s)
		}
	})
}

func TestAnOrderThatFailedIsNotDoneLater(t *testing.T) {
	on(t, func(b *bench) {
		b.do(drivers.SubRing, drivers.ActPattern, value(rotate))
		b.do(drivers.SubRing, drivers.ActColor, value("#00ff00"))
		b.ring.Unplug()
		for _, c := range []drivers.Command{
			{Sub: drivers.SubRing, Action: drivers.ActOff},
			{Sub: drivers.SubRing, Action: drivers.ActColor, Args: value("#ff0000")},
		} {
			if _, err := b.hub.Do(b.Context(), c); !errors.Is(err, drivers.ErrOffline) {
				b.Fatalf("%s: %v", c.Action, err)
			}
		}
		b.ring.Plug()
		b.status(drivers.SubRing)
		time.Sleep(2 * time.Second)
		s := b.status(drivers.SubRing)
		if s.Value != drivers.On || s.Details["color"] != "#00ff00" || s.Details["pattern"] != rotate || b.lit() == 0 {
			b.Fatalf("the ring looks %+v", s)
		}
	})
}

func TestFrame(t *testing.T) {
	got := apa102Frame([]rgb{{1, 2, 3}, {0xff, 0, 0}})
	want := []byte{
		0, 0, 0, 0,
		0xff, 3, 2, 1,
		0xff, 0, 0, 0xff,
		0, 0, 0, 0, 0,
	}
	if !bytes.Equal(got, want) {
		t.Errorf("% x, want % x", got, want)
	}
	// n/2 more clocks push the last colour through.
	for n := range 257 {
		if clocks := 8 * (len(apa102Frame(make([]rgb, n))) - 4 - 4*n); clocks < 32+n/2 {
			t.Fatalf("%d leds get %d clocks behind", n, clocks)
		}
	}
}

func FuzzParseColor(f *testing.F) {
	for _, s := range []string{"#ff8800", "", "#12345", "#gggggg", "ff88001"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := parseColor(s)
		if err != nil {
			return
		}
		if again, err := parseColor(c.String()); err != nil || again != c {
			t.Errorf("%q is %v, which is %v, %v", s, c, again, err)
		}
	})
}
