package parts

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/drivertest"
	"roomgate/drivers/sim"
)

// parts are the hardware of one hub.
type parts struct {
	chip   *sim.TMP102
	pir    *sim.PIR
	buzzer *sim.Buzzer
	ring   *sim.APA102
}

func newParts() parts {
	return parts{
		&sim.TMP102{Bus: "i2c"}, &sim.PIR{Line: "pir"},
		&sim.Buzzer{Line: "buzzer"}, &sim.APA102{SPI: "ring", LEDs: 12},
	}
}

func (p parts) all() []sim.Part { return []sim.Part{p.chip, p.pir, p.buzzer, p.ring} }

func wired() *Options {
	o := Kind().Options().(*Options)
	o.Bus, o.PIR, o.Buzzer, o.Ring = "i2c", "pir", "buzzer", "ring"
	return o
}

// set is a change to the options of a conformance case.
func set(change func(*Options)) func(drivers.Options) {
	return func(o drivers.Options) { change(o.(*Options)) }
}

func TestConformance(t *testing.T) {
	var p parts
	drivertest.Run(t, drivertest.Case{
		Kind:    Kind(),
		Options: func() drivers.Options { return wired() },
		Parts: func() []sim.Part {
			p = newParts()
			return p.all()
		},
		Bad: []drivertest.Bad{
			{Field: "bus", Change: set(func(o *Options) { o.Bus = "" })},
			{Field: "chip", Change: set(func(o *Options) { o.Chip = "lm75" })},
			{Field: "address", Change: set(func(o *Options) { o.Address = 0x4c })},
			{Field: "address", Change: set(func(o *Options) { o.Chip, o.Address = "sht31", 0x48 })},
			{Field: "address", Change: set(func(o *Options) { o.Chip, o.Address = "mcp9808", 0x20 })},
			{Field: "pir", Change: set(func(o *Options) { o.PIR = "" })},
			{Field: "hold", Change: set(func(o *Options) { o.Hold = 0 })},
			{Field: "buzzer", Change: set(func(o *Options) { o.Buzzer = "" })},
			{Field: "ring", Change: set(func(o *Options) { o.Ring = "" })},
			{Field: "strip", Change: set(func(o *Options) { o.Strip = "WS2812" })},
			{Field: "leds", Change: set(func(o *Options) { o.LEDs = 257 })},
		},
		Safe:     map[string]float64{"buzzer": 0},
		Silences: silences("tmp102"),
		Confirm: func(t *testing.T, c drivers.Command, s drivers.Status) {
			if c.Sub == drivers.SubBuzzer && p.buzzer.Sounding() != (s.Value == drivers.On) {
				t.Errorf("%s: told as %s, sounds: %t", c.Action, s.Value, p.buzzer.Sounding())
			}
		},
	})
}

// silences are how a part of a hub ends alone: it is not there, its wires are
// disturbed, or it holds them for ever.
func silences(chip string) (all []drivertest.Silence) {
	for _, c := range []struct{ sub, names, by, back string }{
		{drivers.SubTemperature, chip, "unplug", "plug"},
		{drivers.SubTemperature, chip, "garble", "ungarble"},
		{drivers.SubTemperature, chip, "stick", "unstick"},
		{drivers.SubOccupancy, "pir", "unplug", "plug"},
		{drivers.SubOccupancy, "pir", "stick", "unstick"},
		{drivers.SubBuzzer, "buzzer", "unplug", "plug"},
		{drivers.SubBuzzer, "buzzer", "stick", "unstick"},
		{drivers.SubRing, "ring", "unplug", "plug"},
		{drivers.SubRing, "ring", "stick", "unstick"},
	} {
		all = append(all, drivertest.Silence{Sub: c.sub, By: c.by, Back: c.back, Names: c.names, Within: 10 * time.Second})
	}
	return all
}

// The other chips and LEDs pass the same suite.
func TestConformanceOfOtherParts(t *testing.T) {
	for name, c := range map[string]struct {
		options func(*Options)
		part    func() sim.Part
	}{
		"sht31":   {func(o *Options) { o.Chip = "sht31" }, func() sim.Part { return &sim.SHT31{Bus: "i2c"} }},
		"mcp9808": {func(o *Options) { o.Chip = "mcp9808" }, func() sim.Part { return &sim.MCP9808{Bus: "i2c"} }},
		"ws2812":  {func(o *Options) { o.Strip = "ws2812" }, func() sim.Part { return &sim.WS2812{SPI: "ring", LEDs: 12} }},
	} {
		t.Run(name, func(t *testing.T) {
			drivertest.Run(t, drivertest.Case{
				Kind: Kind(),
				Options: func() drivers.Options {
					o := wired()
					c.options(o)
					return o
				},
				Parts: func() []sim.Part {
					p := newParts()
					parts := []sim.Part{c.part(), p.pir, p.buzzer, p.chip, p.ring}
					if name == "ws2812" {
						return parts[:4]
					}
					return slices.Delete(parts, 3, 4)
				},
				Safe:     map[string]float64{"buzzer": 0},
				Silences: silences(map[string]string{"ws2812": "tmp102"}[name] + strings.TrimPrefix(name, "ws2812")),
			})
		})
	}
}

// bench is a hub driver on its simulated parts.
type bench struct {
	*testing.T
	parts
	world *sim.World
	hub   drivers.Driver
}

func on(t *testing.T, f func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{T: t, parts: newParts(), world: sim.NewWorld()}
		for _, p := range b.all() {
			b.must(b.world.Add("room", "o3-sensor", p))
		}
		var err error
		b.hub, err = wired().Open(t.Context(), b.world)
		b.must(err)
		defer b.world.Close()
		defer b.hub.Close()
		f(b)
	})
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) do(sub, action string, args drivers.Args) drivers.Status {
	b.Helper()
	s, err := b.hub.Do(b.Context(), drivers.Command{Sub: sub, Action: action, Args: args})
	b.must(err)
	return s
}

// status polls and returns one sub-device.
func (b *bench) status(sub string) drivers.Status {
	b.Helper()
	all, err := b.hub.Poll(b.Context())
	b.must(err)
	for _, s := range all {
		if s.Sub == sub {
			return s
		}
	}
	b.Fatalf("no status of %s", sub)
	return drivers.Status{}
}

func TestOnePartFailsAlone(t *testing.T) {
	subs := drivers.SubDevices(drivers.TypeO3)
	unplug := func(p parts) map[string]func() {
		return map[string]func(){
			drivers.SubTemperature: p.chip.Unplug,
			drivers.SubBuzzer:      p.buzzer.Unplug,
			drivers.SubOccupancy:   p.pir.Unplug,
			drivers.SubRing:        p.ring.Unplug,
		}
	}
	for _, broken := range subs {
		on(t, func(b *bench) {
			unplug(b.parts)[broken]()
			for _, sub := range subs {
				err := b.status(sub).Err
				if (sub == broken) != errors.Is(err, drivers.ErrOffline) {
					b.Errorf("%s is unplugged, %s has %v", broken, sub, err)
				}
			}
		})
	}
	on(t, func(b *bench) {
		for _, f := range unplug(b.parts) {
			f()
		}
		if _, err := b.hub.Poll(b.Context()); !errors.Is(err, drivers.ErrOffline) {
			b.Fatalf("all are unplugged: %v", err)
		}
	})
}

func TestOccupiedForTheHoldTime(t *testing.T) {
	on(t, func(b *bench) {
		var told atomic.Int32
		go b.hub.(drivers.Watcher).Watch(b.Context(), func(e drivers.Event) {
			if e.Type != drivers.EventChanged || e.Sub != drivers.SubOccupancy {
				b.Errorf("told %+v", e)
			}
			told.Add(1)
		})
		synctest.Wait()
		expect := func(value string, times int32) {
			b.Helper()
			synctest.Wait()
			if s := b.status(drivers.SubOccupancy); s.Value != value || told.Load() != times {
				b.Fatalf("is %s and was told %d times, want %s and %d", s.Value, told.Load(), value, times)
			}
		}
		expect(drivers.Vacant, 0)
		b.pir.Occupy(true)
		expect(drivers.Occupied, 1)
		time.Sleep(5 * time.Minute) // as long as there is motion
		b.pir.Occupy(false)
		time.Sleep(59 * time.Second)
		expect(drivers.Occupied, 1)
		b.pir.Occupy(true)
		time.Sleep(100 * time.Millisecond)
		b.pir.Occupy(false)
		time.Sleep(59 * time.Second)
		expect(drivers.Occupied, 1)
		time.Sleep(2 * time.Second)
		expect(drivers.Vacant, 2)
	})
}

func TestBeeps(t *testing.T) {
	tests := map[string]struct {
		seconds float64
		want    []time.Duration
	}{
		"single": {2, []time.Duration{2 * time.Second}},
		"double": {0.9, []time.Duration{300 * time.Millisecond, 300 * time.Millisecond}},
		"triple": {1, []time.Duration{200 * time.Millisecond, 200 * time.Millisecond, 200 * time.Millisecond}},
		"alarm":  {0.4, []time.Duration{alarmBeat, alarmBeat}},
	}
	for pattern, c := range tests {
		on(t, func(b *bench) {
			began := time.Now()
			s := b.do(drivers.SubBuzzer, drivers.ActBeep, drivers.Args{"pattern": pattern, "seconds": c.seconds})
			if s.Value != drivers.On || time.Since(began) > 0 {
				b.Fatalf("%s: Do took %v and said %q", pattern, time.Since(began), s.Value)
			}
			time.Sleep(11 * time.Second)
			var got []time.Duration
			for _, beep := range b.buzzer.Beeps() {
				got = append(got, beep.For)
			}
			if len(got) != len(c.want) || got[0] != c.want[0] {
				b.Fatalf("%s beeps %v, want %v", pattern, got, c.want)
			}
			if s := b.status(drivers.SubBuzzer); s.Value != drivers.Off {
				b.Fatalf("after the beep it is %s", s.Value)
			}
		})
	}
}

func TestABeepIsEnded(t *testing.T) {
	long := drivers.Args{"pattern": "alarm", "seconds": 10.0}
	on(t, func(b *bench) {
		b.do(drivers.SubBuzzer, drivers.ActBeep, long)
		time.Sleep(250 * time.Millisecond)
		if s := b.do(drivers.SubBuzzer, drivers.ActOff, nil); s.Value != drivers.Off || b.buzzer.Sounding() {
			b.Fatalf("switched off it is %s", s.Value)
		}
		beeps := len(b.buzzer.Beeps())
		time.Sleep(time.Minute)
		if len(b.buzzer.Beeps()) != beeps {
			b.Fatal("it beeps on")
		}
		b.do(drivers.SubBuzzer, drivers.ActBeep, long)
		b.must(b.hub.Close())
		if b.buzzer.Sounding() {
			b.Fatal("closed, it sounds")
		}
	})
}
