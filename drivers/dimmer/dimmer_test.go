package dimmer

import (
	"context"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"roomgate/drivers"
	"roomgate/drivers/sim"
)

func open(t rapid.TB, minimum float64) (*sim.World, *Dimmer) {
	t.Helper()
	w := sim.NewWorld()
	if err := w.Add("room", "light", &sim.Lamp{PWM: "lamp"}); err != nil {
		t.Fatal(err)
	}
	o := Options{Channel: "lamp", Frequency: 1000, Minimum: minimum}
	if err := o.Check(); err != nil {
		t.Fatal(err)
	}
	d, err := o.Open(context.Background(), w)
	if err != nil {
		t.Fatal(err)
	}
	return w, d
}

// Whatever the minimum: the intensity that is set is the one that is read
// back, and "on" restores the last that was not 0.
func TestIntensityIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, d := open(t, rapid.Float64Range(0, 0.9).Draw(t, "minimum"))
		defer w.Close()
		last := 100
		for range rapid.IntRange(1, 10).Draw(t, "commands") {
			percent := rapid.IntRange(0, 100).Draw(t, "percent")
			if err := d.Set(percent); err != nil {
				t.Fatal(err)
			}
			if got, err := d.Intensity(); err != nil || got != percent {
				t.Fatalf("set %d, read %d, %v", percent, got, err)
			}
			if percent > 0 {
				last = percent
			}
			if got, err := d.Wanted(drivers.Command{Action: drivers.ActOn}); err != nil || got != last {
				t.Fatalf("on restores %d, %v; want %d", got, err, last)
			}
		}
	})
}

func TestFullIsNeverMoreThanAll(t *testing.T) {
	for _, minimum := range []float64{0, 0.06250000000000079, 0.1, 0.9} { // the second is 1 + 2e-16 if only added
		if share := (&Dimmer{minimum: minimum}).Share(100); share != 1 {
			t.Errorf("with a minimum of %g, full is %g", minimum, share)
		}
	}
}

func TestForeignDutyShowsAsOn(t *testing.T) {
	w, d := open(t, 0.5)
	defer w.Close()
	if err := d.Drive(0.01); err != nil {
		t.Fatal(err)
	}
	if got, _ := d.Intensity(); got != 1 {
		t.Fatalf("below the minimum shows %d %%", got)
	}
}

func TestCloseSwitchesOff(t *testing.T) {
	w, d := open(t, 0)
	defer w.Close()
	if err := d.Set(70); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(d.Close(), d.Close()); err != nil {
		t.Fatal(err)
	}
	log := w.Log()
	if log[len(log)-1].Level != 0 || len(w.Held()) > 0 {
		t.Fatalf("ends at %v, holds %q", log[len(log)-1], w.Held())
	}
	if err := d.Set(1); !errors.Is(err, drivers.ErrClosed) {
		t.Fatalf("set after close: %v", err)
	}
}
