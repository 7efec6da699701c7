package mqttdevice_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/mqttdevice"
	"roomgate/drivers/sim"
)

// TestLastWill: whoever is gone is offline at once, without a poll's wait, and
// back by itself.
func TestLastWill(t *testing.T) {
	for name := range devices() {
		use(t, name, func(b *bench) {
			b.settle()
			if s := b.status(""); s.Err != nil {
				b.Fatalf("%s: %v", name, s.Err)
			}
			b.gadget.Unplug()
			synctest.Wait()
			began := time.Now()
			if _, err := b.value(""); !errors.Is(err, drivers.ErrOffline) {
				b.Errorf("%s: unplugged: %v", name, err)
			}
			if took := time.Since(began); took > 0 {
				b.Errorf("%s: it took %s to say so", name, took)
			}
			b.gadget.Plug()
			b.settle()
			if s := b.status(""); s.Err != nil {
				b.Errorf("%s: back: %v", name, s.Err)
			}
		})
	}
}

// TestMemoryIsNoObservation: what a broker has kept of a device that is not
// there says nothing about now.
func TestMemoryIsNoObservation(t *testing.T) {
	for name, d := range devices() {
		_, g := d.parts()
		with(t, g, d.options(), func(b *bench) {
			b.settle()
			_ = b.Close()
			g.Mute(true) // at the broker, as far as that knows
			synctest.Wait()
			g.Switch(true) // after its last word
			g.Turn(true)
			b.start(d.options())
			for range 12 {
				if got, err := b.value(""); !errors.Is(err, drivers.ErrOffline) {
					b.Errorf("%s: a device that does not answer is %q, %v", name, got, err)
				}
				time.Sleep(10 * time.Second)
			}
			if _, err := b.do(b.Describe().Actions[0].Name, ""); !errors.Is(err, drivers.ErrOffline) {
				b.Errorf("%s: an order to it: %v", name, err)
			}
			g.Mute(false)
			b.settle()
			b.want("", map[bool]string{true: drivers.Open, false: drivers.On}[d.kind == "lock"])
		})
	}
}

// TestRetainedAnswer: a node's answer to a ping is retained, and what the broker
// has kept of it vouches for nothing.
func TestRetainedAnswer(t *testing.T) {
	d := devices()["lock-esphome"]
	_, g := d.parts()
	with(t, g, d.options(), func(b *bench) {
		g.Say("esphome/discover/aurora-door", `{"name":"aurora-door","version":"2025.10.3"}`, true)
		b.settle()
		b.want("", drivers.Closed)
		_ = b.Close()
		g.Mute(true)
		g.Turn(true)
		synctest.Wait()
		b.start(d.options())
		if got, err := b.value(""); !errors.Is(err, drivers.ErrOffline) {
			b.Errorf("a node that does not answer is %q, %v", got, err)
		}
	})
}

// TestNotConfirmed: an order that is taken and not followed has failed, in
// time.
func TestNotConfirmed(t *testing.T) {
	for name, d := range devices() {
		use(t, name, func(b *bench) {
			b.settle()
			b.gadget.Numb(true)
			before, _ := b.value("")
			began := time.Now()
			if _, err := b.do(b.Describe().Actions[0].Name, ""); !errors.Is(err, drivers.ErrNotConfirmed) {
				b.Errorf("%s: %v", name, err)
			}
			if took := time.Since(began); took > d.options().Timeout {
				b.Errorf("%s: that took %s", name, took)
			}
			b.want("", before)
			if b.gadget.Orders() == 0 {
				b.Errorf("%s: the order has not arrived", name)
			}
			b.gadget.Numb(false)
			if _, err := b.do(b.Describe().Actions[0].Name, ""); err != nil {
				b.Errorf("%s: %v", name, err)
			}
		})
	}
}

// TestUnprovedDoor: a bolt that may or may not have opened is ordered closed.
func TestUnprovedDoor(t *testing.T) {
	for _, name := range []string{"lock-zigbee2mqtt", "lock-esphome"} {
		use(t, name, func(b *bench) {
			b.settle()
			b.gadget.Mute(true)
			if _, err := b.do(drivers.ActOpen, ""); !errors.Is(err, drivers.ErrNotConfirmed) {
				b.Errorf("%s: %v", name, err)
			}
			synctest.Wait()
			if b.gadget.Unlocked() {
				b.Errorf("%s: the door is left unlocked", name)
			}
		})
	}
}

func TestCloseLocks(t *testing.T) {
	for _, name := range []string{"lock-zigbee2mqtt", "lock-esphome"} {
		use(t, name, func(b *bench) {
			b.settle()
			if s, err := b.do(drivers.ActOpen, ""); err != nil || s.Value != drivers.Open || !b.gadget.Unlocked() {
				b.Errorf("%s: %+v, %v", name, s, err)
			}
			_ = b.Close()
			synctest.Wait()
			if b.gadget.Unlocked() {
				b.Errorf("%s: unlocked after Close", name)
			}
		})
	}
}

// TestLockThatMoves: a bolt on its way or stuck is neither open nor closed.
func TestLockThatMoves(t *testing.T) {
	for name, c := range map[string]struct{ topic, payload string }{
		"lock-esphome":     {"aurora-door/lock/main/state", "JAMMED"},
		"lock-zigbee2mqtt": {"zigbee2mqtt/hall/door", `{"state":"UNLOCK","lock_state":"not_fully_locked"}`},
	} {
		use(t, name, func(b *bench) {
			b.settle()
			b.gadget.Say(c.topic, c.payload, false)
			synctest.Wait()
			if got, err := b.value(""); err == nil || errors.Is(err, drivers.ErrOffline) {
				b.Errorf("%s: %q, %v", name, got, err)
			}
		})
	}
}

// TestJamIsTold: a bolt that reports that it is stuck asks for a poll at once, and
// what that finds is no passing fault.
func TestJamIsTold(t *testing.T) {
	use(t, "lock-esphome", func(b *bench) {
		b.settle()
		b.want("", drivers.Closed)
		told := 0
		ctx, cancel := context.WithCancel(b.Context())
		over := make(chan error, 1)
		go func() {
			over <- b.Driver.(drivers.Watcher).Watch(ctx, func(drivers.Event) { told++ })
		}()
		synctest.Wait()
		began := time.Now()
		b.gadget.Say("aurora-door/lock/main/state", "JAMMED", true)
		synctest.Wait()
		_, err := b.value("")
		if told != 1 || time.Now() != began || !errors.Is(err, drivers.ErrNoValue) || !strings.Contains(err.Error(), "jammed") {
			b.Errorf("told %d times, after %s: %v", told, time.Since(began), err)
		}
		cancel()
		<-over
	})
}

// TestBrokerLost: without the broker nothing is known; with it the device is
// asked again.
func TestBrokerLost(t *testing.T) {
	for name := range devices() {
		use(t, name, func(b *bench) {
			b.settle()
			b.broker.Unplug()
			synctest.Wait()
			if _, err := b.value(""); !errors.Is(err, drivers.ErrOffline) {
				b.Errorf("%s: %v", name, err)
			}
			time.Sleep(5 * time.Minute)
			b.broker.Plug()
			b.settle()
			if s := b.status(""); s.Err != nil || time.Since(s.ObservedAt) > 2*time.Minute {
				b.Errorf("%s: %+v", name, s)
			}
		})
	}
}

// TestNoBroker: the message says what to do.
func TestNoBroker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sim.NewWorld()
		defer w.Close()
		d, err := devices()["light-tasmota"].options().Open(t.Context(), w)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		_, err = d.Poll(t.Context())
		if !errors.Is(err, drivers.ErrOffline) || !strings.Contains(err.Error(), "broker.listen") {
			t.Errorf("got %v", err)
		}
	})
}

// TestSilence: a connected device that says nothing any more is offline, and
// was asked before.
func TestSilence(t *testing.T) {
	use(t, "light-tasmota", func(b *bench) {
		b.settle()
		b.gadget.Mute(true)
		time.Sleep(4 * time.Minute)
		b.want("", drivers.Off)
		time.Sleep(2 * time.Minute)
		if _, err := b.value(""); !errors.Is(err, drivers.ErrOffline) {
			b.Errorf("silent for 6 minutes: %v", err)
		}
		b.gadget.Mute(false)
		time.Sleep(3 * time.Minute)
		b.want("", drivers.Off)
	})
}

// TestBridgeMemory: after its start Zigbee2MQTT sends what it remembers as if
// it were new.
func TestBridgeMemory(t *testing.T) {
	use(t, "light-zigbee2mqtt", func(b *bench) {
		b.settle()
		b.want("", drivers.Off)
		b.gadget.Say("zigbee2mqtt/bridge/state", `{"state":"offline"}`, true)
		b.gadget.Say("zigbee2mqtt/bridge/state", `{"state":"online"}`, true)
		b.gadget.Say("zigbee2mqtt/lamp", `{"state":"ON"}`, false)
		synctest.Wait()
		if got, err := b.value(""); err == nil {
			b.Errorf("a memory is taken as %q", got)
		}
		time.Sleep(30 * time.Second)
		b.want("", drivers.Off) // it was asked
	})
}

// TestIntensity: what is ordered in % is what the device gives, whatever it
// counts in.
func TestIntensity(t *testing.T) {
	for name, d := range devices() {
		if d.kind == "lock" || d.onOff || name == "fan-shelly" {
			continue
		}
		use(t, name, func(b *bench) {
			b.settle()
			steps := 100.0
			if d.kind == "fan" && d.product != "esphome" {
				steps = 3
			}
			for _, percent := range []string{"1", "33", "50", "67", "99", "100"} {
				s, err := b.do(drivers.ActIntensity, percent)
				if err != nil {
					b.Fatalf("%s %s %%: %v", name, percent, err)
				}
				got := float64(s.Details["intensity"].(int))
				if diff := got - b.gadget.Level(); diff > 0.6 || diff < -0.6 {
					b.Errorf("%s: ordered %s %%, told %g %%, it gives %g %%", name, percent, got, b.gadget.Level())
				}
				if steps == 100 && percent != strconv.FormatFloat(got, 'f', -1, 64) {
					b.Errorf("%s: ordered %s %%, it gives %g %%", name, percent, got)
				}
			}
			if s, err := b.do(drivers.ActIntensity, "0"); err != nil || s.Value != drivers.Off || s.Details["intensity"] != 0 {
				b.Errorf("%s: 0 %% is %+v, %v", name, s, err)
			}
		})
	}
}

// TestWatch: a hand on the switch asks for one poll.
func TestWatch(t *testing.T) {
	use(t, "light-shelly", func(b *bench) {
		b.settle()
		b.want("", drivers.Off)
		events := make(chan drivers.Event, 16)
		over := make(chan error, 1)
		go func() {
			over <- b.Driver.(drivers.Watcher).Watch(b.Context(), func(e drivers.Event) { events <- e })
		}()
		synctest.Wait()
		for i, change := range []func(){func() { b.gadget.Switch(true) }, b.gadget.Unplug, b.gadget.Plug} {
			change()
			b.settle()
			if n := len(events); n != 1 {
				b.Errorf("change %d: %d events, want 1", i, n)
			}
			for len(events) > 0 {
				<-events
			}
		}
		_ = b.Close()
		if err := <-over; !errors.Is(err, drivers.ErrClosed) {
			b.Errorf("Watch of a closed device ends with %v", err)
		}
	})
}

// TestWrongFieldOfADialect: what a dialect has no use for is refused by name.
func TestWrongFieldOfADialect(t *testing.T) {
	for _, c := range []struct {
		device, field string
		change        func(*mqttdevice.Options)
	}{
		{"light-esphome", "name", func(o *mqttdevice.Options) { o.Name = "" }},
		{"light-esphome", "name", func(o *mqttdevice.Options) { o.Name = "a/b" }},
		{"light-esphome", "component", func(o *mqttdevice.Options) { o.Component = "light:0" }},
		{"light-shelly", "component", func(o *mqttdevice.Options) { o.Component = "cover:0" }},
		{"light-shelly", "on_off", func(o *mqttdevice.Options) { o.OnOff = true }},
		{"light-tasmota", "node", func(o *mqttdevice.Options) { o.Node = "a" }},
		{"light-tasmota", "name", func(o *mqttdevice.Options) { o.Name = "a" }},
		{"lock-esphome", "on_off", func(o *mqttdevice.Options) { o.OnOff = true }},
		{"light-zigbee2mqtt", "speeds", func(o *mqttdevice.Options) { o.Speeds = 9 }},
		{"fan-zigbee2mqtt on_off", "speeds", func(o *mqttdevice.Options) { o.Speeds = 9 }},
		{"fan-tasmota", "speeds", func(o *mqttdevice.Options) { o.Speeds = 3 }},
		{"fan-esphome", "speeds", func(o *mqttdevice.Options) { o.Speeds = 0 }},
		{"lock-zigbee2mqtt", "node", func(o *mqttdevice.Options) { o.Node = "#" }},
	} {
		o := devices()[c.device].options()
		c.change(o)
		var field *drivers.FieldError
		if err := o.Check(); !errors.As(err, &field) || field.Field != c.field {
			t.Errorf("%s: bad %s gives %v", c.device, c.field, err)
		}
	}
}
