package sim

import (
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"periph.io/x/conn/v3/physic"
	"periph.io/x/conn/v3/spi"

	"roomgate/drivers"
)

// take holds a line of each sort and releases it.
func take(w *World, line string) map[string]func() (func() error, error) {
	return map[string]func() (func() error, error){
		"output": func() (func() error, error) {
			o, err := w.Output(line, false)
			if err != nil {
				return nil, err
			}
			return o.Close, nil
		},
		"input": func() (func() error, error) {
			i, err := w.Input(line, drivers.PullNone)
			if err != nil {
				return nil, err
			}
			return i.Close, nil
		},
		"pwm": func() (func() error, error) {
			p, err := w.PWM(line, physic.KiloHertz)
			if err != nil {
				return nil, err
			}
			return p.Close, nil
		},
		"spi": func() (func() error, error) {
			s, err := w.SPI(line, physic.MegaHertz, spi.Mode0)
			if err != nil {
				return nil, err
			}
			return s.Close, nil
		},
	}
}

func TestHolding(t *testing.T) {
	names := map[string]string{"output": "bell", "input": "motion", "pwm": "lamp", "spi": "ring"}
	w := world(t, &Buzzer{Line: "bell"}, &PIR{Line: "motion"}, &Lamp{PWM: "lamp"}, &APA102{SPI: "ring", LEDs: 4})
	for sort, line := range names {
		if _, err := take(w, "none")[sort](); !errors.Is(err, drivers.ErrNoLine) || !strings.Contains(err.Error(), "none: "+drivers.ErrNoLine.Error()+": a simulated one has") {
			t.Errorf("%s that is not there: %v, want ErrNoLine", sort, err)
		}
		release, err := take(w, line)[sort]()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := take(w, line)[sort](); !errors.Is(err, drivers.ErrInUse) {
			t.Errorf("%s that is held: %v, want ErrInUse", sort, err)
		}
		if held := w.Held(); !slices.Equal(held, []string{line}) {
			t.Errorf("held are %q, want %s", held, line)
		}
		for range 2 {
			if err := release(); err != nil {
				t.Errorf("close of %s: %v", sort, err)
			}
		}
		if len(w.Held()) != 0 {
			t.Errorf("%s is still held", sort)
		}
	}
	if _, err := w.I2C("none"); !errors.Is(err, drivers.ErrNoLine) {
		t.Errorf("bus that is not there: %v, want ErrNoLine", err)
	}
}

func TestOutputIsLoggedAndKeepsItsLevel(t *testing.T) {
	bell := &Buzzer{Line: "bell"}
	w := world(t, bell)
	o, err := w.Output("bell", true)
	if err != nil {
		t.Fatal(err)
	}
	_ = o.Set(false)
	_ = o.Set(true)
	_ = o.Close()
	if err := o.Set(false); !errors.Is(err, drivers.ErrClosed) {
		t.Errorf("Set after Close: %v, want ErrClosed", err)
	}
	var levels []float64
	for _, tr := range w.Log() {
		levels = append(levels, tr.Level)
	}
	if !slices.Equal(levels, []float64{1, 0, 1}) || !bell.Sounding() {
		t.Errorf("levels %v, sounding %t, want 1 0 1 and the sound to go on", levels, bell.Sounding())
	}
}

func TestLogIsBounded(t *testing.T) {
	w := world(t, &Lamp{PWM: "lamp"})
	p, err := w.PWM("lamp", physic.KiloHertz)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 * maxLog {
		_ = p.SetDuty(float64(i%2) / 2)
	}
	if n := len(w.Log()); n > maxLog || n < maxLog/2 {
		t.Errorf("%d transitions are kept, want up to %d", n, maxLog)
	}
}

func TestPWMRanges(t *testing.T) {
	w := world(t, &Lamp{PWM: "lamp"})
	for _, f := range []physic.Frequency{0, physic.MilliHertz, physic.GigaHertz} {
		if _, err := w.PWM("lamp", f); err == nil {
			t.Errorf("frequency %s is accepted", f)
		}
	}
	p, err := w.PWM("lamp", physic.KiloHertz)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.SetDuty(0.25); err != nil {
		t.Fatal(err)
	}
	zero := 0.0
	for _, d := range []float64{-0.1, 1.1, zero / zero} {
		if err := p.SetDuty(d); err == nil {
			t.Errorf("duty %g is accepted", d)
		}
	}
	if d, err := p.Duty(); d != 0.25 || err != nil {
		t.Errorf("duty %g, %v, want 0.25", d, err)
	}
}

func TestPull(t *testing.T) {
	w := world(t, &Buzzer{Line: "undriven"})
	for pull, want := range map[drivers.Pull]bool{drivers.PullUp: true, drivers.PullDown: false, drivers.PullNone: false} {
		in, err := w.Input("undriven", pull)
		if err != nil {
			t.Fatal(err)
		}
		if high, err := in.Read(); high != want || err != nil {
			t.Errorf("pull %d reads %t, %v", pull, high, err)
		}
		_ = in.Close()
	}
}

func TestWire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := world(t, &Buzzer{Line: "bell"})
		if w.Wire("bell") != nil {
			t.Error("a part's line is given away as a bare wire")
		}
		wire := w.Wire("x")
		if w.Wire("x") != wire {
			t.Error("the same name gives another wire")
		}
		in, err := w.Input("x", drivers.PullUp)
		if err != nil {
			t.Fatal(err)
		}
		edges := make(chan drivers.Edge, 8)
		over := make(chan error)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { over <- in.Edges(ctx, func(e drivers.Edge) { edges <- e }) }()
		synctest.Wait()
		if err := in.Edges(ctx, nil); !errors.Is(err, drivers.ErrInUse) {
			t.Errorf("a second listener: %v, want ErrInUse", err)
		}
		wire.Set(true)
		synctest.Wait()
		wire.Set(false)
		synctest.Wait()
		if len(edges) != 2 || !(<-edges).High || (<-edges).High {
			t.Error("want an edge up and one down")
		}
		cancel()
		if err := <-over; !errors.Is(err, context.Canceled) {
			t.Errorf("Edges ended with %v", err)
		}
	})
}

func TestEdgesEnd(t *testing.T) {
	ends := map[string]struct {
		do   func(w *World, p *PIR, in drivers.Input)
		want error
	}{
		"line closed":  {func(_ *World, _ *PIR, in drivers.Input) { _ = in.Close() }, drivers.ErrClosed},
		"world closed": {func(w *World, _ *PIR, _ drivers.Input) { w.Close() }, drivers.ErrClosed},
		"unplugged":    {func(_ *World, p *PIR, _ drivers.Input) { p.Unplug() }, drivers.ErrOffline},
		"garbled":      {func(_ *World, p *PIR, _ drivers.Input) { p.Garble() }, syscall.EIO},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pir := &PIR{Line: "motion"}
				w := world(t, pir)
				in, err := w.Input("motion", drivers.PullDown)
				if err != nil {
					t.Fatal(err)
				}
				over := make(chan error, 1)
				go func() { over <- in.Edges(t.Context(), func(drivers.Edge) {}) }()
				time.Sleep(time.Second)
				end.do(w, pir, in)
				if err := <-over; !errors.Is(err, end.want) {
					t.Errorf("Edges ended with %v, want %v", err, end.want)
				}
			})
		})
	}
}

func TestStuckEdgesComeLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pir := &PIR{Line: "motion"}
		in, err := world(t, pir).Input("motion", drivers.PullDown)
		if err != nil {
			t.Fatal(err)
		}
		edges := make(chan drivers.Edge, 8)
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan error)
		go func() { over <- in.Edges(ctx, func(e drivers.Edge) { edges <- e }) }()
		synctest.Wait()
		pir.Stick()
		pir.Occupy(true)
		time.Sleep(time.Hour)
		if len(edges) != 0 {
			t.Error("a stuck line has an edge")
		}
		pir.Unstick()
		if e := <-edges; !e.High {
			t.Error("the level of after the fault is not reported")
		}
		cancel()
		<-over
	})
}
