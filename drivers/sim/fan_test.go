package sim

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"periph.io/x/conn/v3/physic"

	"roomgate/drivers"
)

// fanLines opens a fan's two lines.
func fanLines(t *testing.T, fan *Fan) (drivers.PWM, drivers.Input) {
	t.Helper()
	fan.PWM, fan.Tach = "pwm", "tach"
	w := world(t, fan)
	pwm, err := w.PWM("pwm", 25*physic.KiloHertz)
	if err != nil {
		t.Fatal(err)
	}
	tach, err := w.Input("tach", drivers.PullUp)
	if err != nil {
		t.Fatal(err)
	}
	return pwm, tach
}

// count counts rising edges for so long.
func count(t *testing.T, in drivers.Input, d time.Duration) (pulses int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	var before time.Time
	err := in.Edges(ctx, func(e drivers.Edge) {
		if e.High {
			pulses++
		}
		if e.At.Before(before) || e.At.After(time.Now()) {
			t.Errorf("an edge at %s after one at %s", e.At, before)
		}
		before = e.At
	})
	if err != context.DeadlineExceeded {
		t.Errorf("Edges: %v", err)
	}
	return pulses
}

func TestFanSpeed(t *testing.T) {
	tests := []struct {
		duty, rpm float64
	}{{0, 0}, {0.05, 0}, {0.1, 300}, {0.5, 1500}, {1, 3000}}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			fan := &Fan{Speed: 3000}
			pwm, tach := fanLines(t, fan)
			if err := pwm.SetDuty(tt.duty); err != nil {
				t.Fatal(err)
			}
			time.Sleep(fanSpinUp)
			// Two pulses per revolution: rpm / 30 in a second.
			if got := count(t, tach, 2*time.Second); math.Abs(float64(got)-tt.rpm/15) > 1 {
				t.Errorf("duty %g: %d pulses in 2 s, want %g", tt.duty, got, tt.rpm/15)
			}
			if fan.RPM() != tt.rpm {
				t.Errorf("duty %g: %g rpm, want %g", tt.duty, fan.RPM(), tt.rpm)
			}
		})
	}
}

func TestFanChangesWhileListening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fan := &Fan{Speed: 3000}
		pwm, tach := fanLines(t, fan)
		steps := []func(){
			func() { _ = pwm.SetDuty(1) }, func() { _ = pwm.SetDuty(0.5) }, fan.Stall, fan.Free,
		}
		go func() {
			for _, step := range steps {
				step()
				time.Sleep(time.Second)
			}
		}()
		// Each second begins with 0.3 s at half way between the speeds.
		want := 0.3*50 + 0.7*100 + 0.3*75 + 0.7*50 + 0.3*25 + 0.3*25 + 0.7*50
		if got := count(t, tach, 4*time.Second); math.Abs(float64(got)-want) > 2 {
			t.Errorf("%d pulses, want %g", got, want)
		}
	})
}

func TestFanIsIdleWhileNobodyListens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pwm, tach := fanLines(t, &Fan{})
		_ = pwm.SetDuty(1)
		time.Sleep(365 * 24 * time.Hour) // would take for ever if it ticked
		if got := count(t, tach, time.Second); got < 66 || got > 67 {
			t.Errorf("%d pulses in a second at 2000 rpm, want 66 or 67", got)
		}
	})
}

func TestFanUnplugged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fan := &Fan{}
		pwm, tach := fanLines(t, fan)
		_ = pwm.SetDuty(0.5)
		over := make(chan error)
		go func() { over <- tach.Edges(t.Context(), func(drivers.Edge) {}) }()
		time.Sleep(time.Second)
		fan.Unplug()
		if err := <-over; err == nil {
			t.Error("Edges of an unplugged line ends without an error")
		}
		if _, err := pwm.Duty(); err == nil {
			t.Error("an unplugged channel has a duty")
		}
		fan.Plug()
		if d, err := pwm.Duty(); err != nil || d != 0.5 {
			t.Errorf("plugged in again: duty %g, %v", d, err)
		}
	})
}
