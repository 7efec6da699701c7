package o3_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/drivers"
)

// Of a hub that keeps no reports they come within its period, of another at once.
func TestTheFirstPollWaitsForTheFirstReports(t *testing.T) {
	for name, want := range map[string]time.Duration{"keeps none": 2 * time.Second, "keeps them": 0} {
		t.Run(name, func(t *testing.T) { firstPoll(t, want) })
	}
}

func firstPoll(t *testing.T, want time.Duration) {
	h := hub()
	h.Mute(want > 0)
	with(t, h, options(), func(b *bench) {
		began := time.Now()
		time.AfterFunc(time.Second, func() { h.Mute(false) })
		b.want(drivers.SubTemperature, "21.5")
		if took := time.Since(began); took != want {
			b.Errorf("the first poll took %s, want %s", took, want)
		}
		b.want(drivers.SubTemperature, "21.5")
		b.want(drivers.SubOccupancy, drivers.Vacant)
		b.want(drivers.SubBuzzer, drivers.Off)
		b.want(drivers.SubRing, drivers.Off)
	})
}

func TestFahrenheitAndText(t *testing.T) {
	h := hub()
	h.Text, h.Fahrenheit, h.Prefix = true, true, "site/7"
	o := options()
	o.Prefix, o.Temperature, o.Occupancy = "site/7", "internalTemperature", "motion"
	with(t, h, o, func(b *bench) {
		b.want(drivers.SubTemperature, "23.1")
		h.Warm(30)
		h.Occupy(true)
		synctest.Wait()
		b.want(drivers.SubTemperature, "30")
		b.want(drivers.SubOccupancy, drivers.Occupied)
		if _, err := b.do(drivers.SubRing, drivers.ActColor, `"#ff0000"`); err != nil {
			b.Error(err)
		}
	})
}

func TestReadBackProvesAnOrder(t *testing.T) {
	with(t, hub(), options(), func(b *bench) {
		b.want(drivers.SubRing, drivers.Off)
		s, err := b.do(drivers.SubRing, drivers.ActColor, `"#00ff00"`)
		if err != nil || s.Value != drivers.On || s.Details["color"] != "#00ff00" {
			b.Fatalf("got %+v, %v", s, err)
		}
		if red, green, blue, _ := b.hub.Ring(); red != 0 || green != 50 || blue != 0 {
			b.Errorf("the ring shows %g %g %g", red, green, blue)
		}
		b.hub.Numb(true)
		began := time.Now()
		if _, err := b.do(drivers.SubRing, drivers.ActOff, ""); !errors.Is(err, drivers.ErrNotConfirmed) {
			b.Errorf("a hub that does not follow gives %v", err)
		}
		if waited := time.Since(began); waited > 3*time.Second {
			b.Errorf("that took %s", waited)
		}
		b.want(drivers.SubRing, drivers.On)
		b.hub.Numb(false)
		if s, err := b.do(drivers.SubRing, drivers.ActOff, ""); err != nil || s.Value != drivers.Off {
			b.Errorf("got %+v, %v", s, err)
		}
		if s, err := b.do(drivers.SubRing, drivers.ActOn, ""); err != nil || s.Details["color"] != "#00ff00" {
			b.Errorf("on shows %+v, %v, want the last color", s, err)
		}
	})
}

func TestAnOrderWhoseReportIsLost(t *testing.T) {
	with(t, hub(), options(), func(b *bench) {
		b.want(drivers.SubBuzzer, drivers.Off)
		b.hub.Mute(true)
		time.AfterFunc(time.Second, b.hub.Unplug)
		began := time.Now()
		_, err := b.do(drivers.SubBuzzer, drivers.ActOn, "")
		if !errors.Is(err, drivers.ErrNotConfirmed) {
			b.Errorf("got %v", err)
		}
		if waited := time.Since(began); waited != time.Second {
			b.Errorf("a lost connection was noticed after %s", waited)
		}
		if _, err := b.do(drivers.SubBuzzer, drivers.ActOn, ""); !errors.Is(err, drivers.ErrOffline) {
			b.Errorf("got %v", err)
		}
		if got := b.hub.Sounds(); len(got) != 1 {
			b.Errorf("the hub played %q", got)
		}
		b.hub.Mute(false)
		b.hub.Plug()
		time.Sleep(time.Minute)
		if got := b.hub.Sounds(); len(got) != 1 {
			b.Errorf("an order was carried out late: %q", got)
		}
	})
}

func TestBeep(t *testing.T) {
	with(t, hub(), options(), func(b *bench) {
		b.want(drivers.SubBuzzer, drivers.Off)
		s, err := b.do(drivers.SubBuzzer, drivers.ActBeep, `{"pattern": "alarm", "seconds": 2}`)
		if err != nil || s.Value != drivers.On || b.hub.Playing() != "(10) Alarm.wav" {
			b.Fatalf("got %+v, %v, plays %q", s, err, b.hub.Playing())
		}
		time.Sleep(3 * time.Second)
		b.want(drivers.SubBuzzer, drivers.Off)
	})
}

// TestTwoGateways: two clients of one hub do not throw each other out.
func TestTwoGateways(t *testing.T) {
	with(t, hub(), options(), func(b *bench) {
		other, err := options().Open(b.Context(), b.room)
		if err != nil {
			b.Fatal(err)
		}
		defer other.Close()
		time.Sleep(time.Minute)
		b.want(drivers.SubTemperature, "21.5")
		if n := b.room.dialled(); n != 2 {
			b.Errorf("%d connections, want 2", n)
		}
	})
}

func TestWatchTellsOfChanges(t *testing.T) {
	with(t, hub(), options(), func(b *bench) {
		b.want(drivers.SubTemperature, "21.5")
		ctx, cancel := context.WithCancel(b.Context())
		defer cancel()
		events := 0
		over := make(chan error, 1)
		go func() {
			over <- b.Driver.(drivers.Watcher).Watch(ctx, func(e drivers.Event) {
				if e.Type != drivers.EventChanged || e.Time.IsZero() {
					b.Errorf("got %+v", e)
				}
				events++
			})
		}()
		settle := func() int {
			synctest.Wait()
			n := events
			events = 0
			return n
		}
		time.Sleep(30 * time.Second)
		if n := settle(); n != 0 {
			b.Errorf("%d events of a room in which nothing happens", n)
		}
		for what, change := range map[string]func(){
			"warmth": func() { b.hub.Warm(25) }, "somebody": func() { b.hub.Occupy(true) },
			"unplugged": b.hub.Unplug,
		} {
			change()
			if n := settle(); n != 1 {
				b.Errorf("%s: %d events, want 1", what, n)
			}
			if what == "unplugged" {
				b.hub.Plug()
				time.Sleep(5 * time.Second)
				settle()
			}
		}
		_ = b.Close()
		if err := <-over; !errors.Is(err, drivers.ErrClosed) {
			b.Errorf("Watch of a closed hub ends with %v", err)
		}
	})
}

func TestCloseLeavesTheHubCalm(t *testing.T) {
	with(t, hub(), options(), func(b *bench) {
		b.want(drivers.SubRing, drivers.Off)
		for _, sub := range []string{drivers.SubRing, drivers.SubBuzzer} {
			if _, err := b.do(sub, drivers.ActOn, ""); err != nil {
				b.Fatal(err)
			}
		}
		began := time.Now()
		_ = b.Close()
		if took := time.Since(began); took > 2*time.Second {
			b.Errorf("Close took %s", took)
		}
		synctest.Wait()
		red, green, blue, pattern := b.hub.Ring()
		if b.hub.Playing() != "" || red+green+blue != 0 || pattern != 1 {
			b.Errorf("the hub plays %q, the ring shows %g %g %g, pattern %d", b.hub.Playing(), red, green, blue, pattern)
		}
		if _, err := b.value(drivers.SubRing); !errors.Is(err, drivers.ErrClosed) {
			b.Errorf("Poll after Close: %v", err)
		}
	})
}
