package fan

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/drivertest"
	"roomgate/drivers/sim"
)

func wired() *Options {
	o := defaults()
	o.Channel, o.Tach = "fan", "tach"
	return o
}

func TestConformance(t *testing.T) {
	var rotor *sim.Fan
	set := func(change func(*Options)) func(drivers.Options) {
		return func(o drivers.Options) { change(o.(*Options)) }
	}
	drivertest.Run(t, drivertest.Case{
		Kind:    Kind(),
		Options: func() drivers.Options { return wired() },
		Parts: func() []sim.Part {
			rotor = &sim.Fan{PWM: "fan", Tach: "tach"}
			return []sim.Part{rotor}
		},
		Bad: []drivertest.Bad{
			{Field: "channel", Change: set(func(o *Options) { o.Channel = "" })},
			{Field: "start_share", Change: set(func(o *Options) { o.StartShare = 1.1 })},
			{Field: "pulses", Change: set(func(o *Options) { o.Pulses = 0 })},
			{Field: "min_rpm", Change: set(func(o *Options) { o.MinRPM = 239 })},
			{Field: "spin_up", Change: set(func(o *Options) { o.SpinUp = time.Minute })},
		},
		Safe:     map[string]float64{"fan": 0},
		Blocking: true, // a pwm channel takes no context
		Confirm: func(t *testing.T, c drivers.Command, s drivers.Status) {
			if s.Value == drivers.On && rotor.RPM() < 300 {
				t.Errorf("%s: told as on at %g rpm", c.Action, rotor.RPM())
			}
		},
	})
}

// bench is a fan driver on a simulated fan.
type bench struct {
	*testing.T
	world *sim.World
	rotor *sim.Fan
	fan   drivers.Driver
}

func on(t *testing.T, o *Options, f func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{T: t, world: sim.NewWorld(), rotor: &sim.Fan{PWM: "fan", Tach: "tach"}}
		if err := b.world.Add("room", "fan", b.rotor); err != nil {
			t.Fatal(err)
		}
		var err error
		if b.fan, err = o.Open(t.Context(), b.world); err != nil {
			t.Fatal(err)
		}
		defer b.world.Close()
		defer b.fan.Close()
		f(b)
	})
}

func (b *bench) intensity(percent float64) (drivers.Status, error) {
	return b.fan.Do(b.Context(), drivers.Command{
		Action: drivers.ActIntensity, Args: drivers.Args{drivers.ValueName: percent},
	})
}

func (b *bench) poll() drivers.Status {
	b.Helper()
	all, err := b.fan.Poll(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return all[0]
}

func TestSpeedIsMeasured(t *testing.T) {
	on(t, wired(), func(b *bench) {
		for _, percent := range []float64{1, 50, 100} {
			if _, err := b.intensity(percent); err != nil {
				b.Fatal(err)
			}
			time.Sleep(time.Second)
			began := time.Now()
			s := b.poll()
			if took := time.Since(began); took > window {
				b.Errorf("polled for %v", took)
			}
			want := b.rotor.RPM()
			if got := float64(s.Details["rpm"].(int)); got < want-2 || got > want+2 || s.Details["intensity"] != int(percent) {
				b.Errorf("at %g %%: %v, the fan turns at %g rpm", percent, s.Details, want)
			}
		}
	})
}

func TestSlowStartIsKicked(t *testing.T) {
	on(t, wired(), func(b *bench) {
		if _, err := b.intensity(1); err != nil {
			b.Fatal(err)
		}
		log := b.world.Log()
		if len(log) != 3 || log[1].Level != 0.3 || log[2].Level > 0.21 {
			b.Fatalf("channel went %v, want a start at 0.3", log)
		}
	})
}

func TestBlockedFanIsNotConfirmedAndTakenBack(t *testing.T) {
	on(t, wired(), func(b *bench) {
		b.rotor.Stall()
		if _, err := b.intensity(80); !errors.Is(err, drivers.ErrNotConfirmed) {
			b.Fatal(err)
		}
		if s := b.poll(); s.Value != drivers.Off || s.Details["intensity"] != 0 {
			b.Fatalf("after the command: %+v", s)
		}
	})
}

// TestFanThatStallsDuringItsCommand: whenever that is, the command is done only if the fan is seen to turn.
func TestFanThatStallsDuringItsCommand(t *testing.T) {
	for after := time.Duration(0); after < 3*time.Second; after += 50 * time.Millisecond {
		on(t, wired(), func(b *bench) {
			stall := time.AfterFunc(after, b.rotor.Stall)
			defer stall.Stop()
			s, err := b.intensity(80)
			if err == nil && s.Value != drivers.On || err != nil && !errors.Is(err, drivers.ErrNotConfirmed) {
				t.Errorf("stalled after %s: %+v, %v", after, s, err)
			}
			if s := b.poll(); err != nil && s.Details["intensity"] != 0 {
				t.Errorf("stalled after %s: it is not taken back: %+v", after, s)
			}
		})
	}
}

func TestStallIsToldOnceEachTime(t *testing.T) {
	on(t, wired(), func(b *bench) {
		var told []drivers.Event
		go b.fan.(drivers.Watcher).Watch(b.Context(), func(e drivers.Event) { told = append(told, e) })
		if _, err := b.intensity(50); err != nil {
			b.Fatal(err)
		}
		for range 2 {
			b.rotor.Stall()
			time.Sleep(time.Second)
			for range 3 {
				s := b.poll()
				if s.Value != drivers.Off || s.Details["stalled"] != true || s.Details["intensity"] != 50 {
					b.Fatalf("stalled: %+v", s)
				}
			}
			b.rotor.Free()
			time.Sleep(time.Second)
			if s := b.poll(); s.Value != drivers.On {
				b.Fatalf("turns again: %+v", s)
			}
		}
		synctest.Wait()
		if len(told) != 2 || told[0].Type != drivers.EventFanStalled {
			b.Fatalf("told %+v", told)
		}
	})
}

func TestWithoutTachometerTheChannelIsTheSource(t *testing.T) {
	o := wired()
	o.Tach = ""
	on(t, o, func(b *bench) {
		b.rotor.Stall()
		s, err := b.intensity(40)
		if err != nil || s.Value != drivers.On || s.Source != "pwm channel" || s.Details["rpm"] != nil {
			b.Fatalf("%+v, %v", s, err)
		}
	})
}
