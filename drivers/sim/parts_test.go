package sim

import (
	"testing"
	"testing/synctest"
	"time"

	"periph.io/x/conn/v3/physic"

	"roomgate/drivers"
)

func TestLampFollowsItsChannel(t *testing.T) {
	lamp := &Lamp{PWM: "lamp"}
	p, err := world(t, lamp).PWM("lamp", physic.KiloHertz)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.SetDuty(0.4); err != nil || lamp.Brightness() != 0.4 {
		t.Errorf("brightness %g, %v", lamp.Brightness(), err)
	}
}

func TestPIR(t *testing.T) {
	pir := &PIR{Line: "motion"}
	in, err := world(t, pir).Input("motion", drivers.PullUp)
	if err != nil {
		t.Fatal(err)
	}
	for _, somebody := range []bool{false, true, false} {
		pir.Occupy(somebody)
		if high, err := in.Read(); high != somebody || err != nil {
			t.Errorf("line is %t, %v, want %t", high, err, somebody)
		}
	}
}

func TestBuzzerRemembersBeeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		buzzer := &Buzzer{Line: "bell"}
		o, err := world(t, buzzer).Output("bell", false)
		if err != nil {
			t.Fatal(err)
		}
		for i := range maxBeeps + 10 {
			_ = o.Set(true)
			_ = o.Set(true)
			time.Sleep(time.Duration(i) * time.Millisecond)
			_ = o.Set(false)
			_ = o.Set(false)
		}
		_ = o.Set(true)
		time.Sleep(time.Second)
		beeps := buzzer.Beeps()
		if len(beeps) != maxBeeps+1 || beeps[0].For != 10*time.Millisecond || beeps[maxBeeps].For != time.Second {
			t.Errorf("%d beeps, the first of %s, the last of %s", len(beeps), beeps[0].For, beeps[len(beeps)-1].For)
		}
	})
}

func TestBacklight(t *testing.T) {
	switched, dimmed := &Backlight{Line: "a"}, &Backlight{PWM: "b"}
	w := world(t, switched, dimmed)
	if _, err := w.Output("a", true); err != nil || switched.Brightness() != 1 {
		t.Errorf("switched on: %g, %v", switched.Brightness(), err)
	}
	p, err := w.PWM("b", physic.KiloHertz)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.SetDuty(0.3); err != nil || dimmed.Brightness() != 0.3 {
		t.Errorf("dimmed: %g, %v", dimmed.Brightness(), err)
	}
	for _, bad := range []*Backlight{{}, {Line: "c", PWM: "d"}, {Line: "a"}} {
		if err := w.Add("x", "y", bad); err == nil {
			t.Errorf("%q with %q was added", bad.Line, bad.PWM)
		}
	}
}
