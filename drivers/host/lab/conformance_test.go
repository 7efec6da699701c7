//go:build lab

package lab

import (
	"testing"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/display"
	"roomgate/drivers/drivertest"
	"roomgate/drivers/fan"
	"roomgate/drivers/light"
	"roomgate/drivers/lock"
	"roomgate/drivers/parts"
	"roomgate/drivers/sim"
)

const (
	noCable   = "a PWM channel or an SPI port has no wire back: the kernel cannot know"
	noSilence = "a page is away after 15 s of silence, which is longer than three polls: see browser closed"
	oneChip   = "its line is of the chip that the other lines are of: it does not fail alone"
	noHang    = "reading a line or a channel of this chip cannot hang: the kernel answers from its registers"
)

// with are a kind's options after a change.
func with[O any](k drivers.Kind, change func(o O)) func() drivers.Options {
	return func() drivers.Options {
		o := k.Options()
		change(o.(O))
		return o
	}
}

func lockOptions() drivers.Options {
	return with(lock.Kind(), func(o *lock.Options) {
		o.Relay, o.Sense, o.Contact = "relay", "sense", "contact"
		o.Settle = 3 * time.Second // an emulated machine stands still at times
	})()
}

func lightOptions() drivers.Options {
	return with(light.Kind(), func(o *light.Options) { o.Channel = "pwmchip0/0" })()
}

func fanOptions() drivers.Options {
	return with(fan.Kind(), func(o *fan.Options) {
		o.Channel, o.Tach, o.SpinUp = "pwmchip0/1", "tach", 5*time.Second
	})()
}

func hubOptions() drivers.Options {
	return with(parts.Kind(), func(o *parts.Options) {
		o.Bus, o.PIR, o.Buzzer, o.Ring = i2cBus, "pir", "buzzer", spiPort
	})()
}

func displayOptions() drivers.Options {
	return with(display.Kind(), func(o *display.Options) {
		o.Page, o.Backlight, o.Stale = "room", "backlight", 6*time.Second
	})()
}

func newDoor() *sim.Door { return &sim.Door{Relay: "relay", Sense: "sense", Contact: "contact"} }
func newFan() *sim.Fan   { return &sim.Fan{PWM: "pwmchip0/1", Tach: "tach"} }
func newLamp() *sim.Lamp { return &sim.Lamp{PWM: "pwmchip0/0"} }
func newDisplay() []sim.Part {
	return []sim.Part{&sim.Backlight{Line: "backlight"}, &sim.Tablet{Page: "room"}}
}
func newHub() []sim.Part {
	return []sim.Part{&sim.TMP102{Bus: i2cBus}, &sim.PIR{Line: "pir"},
		&sim.Buzzer{Line: "buzzer"}, &sim.APA102{SPI: spiPort, LEDs: 12}}
}

// The suite that every driver passes in memory, on the kernel's devices.
func TestConformance(t *testing.T) {
	var door *sim.Door
	t.Run("lock/gpio", func(t *testing.T) {
		drivertest.Run(t, drivertest.Case{
			Kind: lock.Kind(), Options: lockOptions, Rig: newRig, Blocking: true,
			Parts: func() []sim.Part { door = newDoor(); return []sim.Part{door} },
			Safe:  map[string]float64{"relay": 0},
			Skip:  map[string]string{"stick": noHang},
			Confirm: func(t *testing.T, c drivers.Command, s drivers.Status) {
				if door.Drawn() != (s.Value == drivers.Open) {
					t.Errorf("%s: told as %s, bolt drawn: %t", c.Action, s.Value, door.Drawn())
				}
			},
		})
	})
	var lamp *sim.Lamp
	t.Run("light/pwm", func(t *testing.T) {
		drivertest.Run(t, drivertest.Case{
			Kind: light.Kind(), Options: lightOptions, Rig: newRig, Blocking: true,
			Parts: func() []sim.Part { lamp = newLamp(); return []sim.Part{lamp} },
			Safe:  map[string]float64{"pwmchip0/0": 0},
			Skip:  map[string]string{"unplug": noCable, "garble": noCable, "delay": noCable, "stick": noHang},
			Confirm: func(t *testing.T, c drivers.Command, s drivers.Status) {
				if drivers.OnOff(lamp.Brightness() > 0) != s.Value {
					t.Errorf("%s: told as %s, the lamp is at %g", c.Action, s.Value, lamp.Brightness())
				}
			},
		})
	})
	var rotor *sim.Fan
	t.Run("fan/pwm+gpio", func(t *testing.T) {
		drivertest.Run(t, drivertest.Case{
			Kind: fan.Kind(), Options: fanOptions, Rig: newRig, Blocking: true,
			Parts: func() []sim.Part { rotor = newFan(); return []sim.Part{rotor} },
			Safe:  map[string]float64{"pwmchip0/1": 0},
			Skip:  map[string]string{"unplug": noCable, "stick": noHang},
			Confirm: func(t *testing.T, c drivers.Command, s drivers.Status) {
				if s.Value == drivers.On && rotor.RPM() < 300 {
					t.Errorf("%s: told as on at %g rpm", c.Action, rotor.RPM())
				}
			},
		})
	})
	var light *sim.Backlight
	t.Run("display/gpio", func(t *testing.T) {
		drivertest.Run(t, drivertest.Case{
			Kind: display.Kind(), Options: displayOptions, Rig: newRig, Blocking: true,
			Parts: func() []sim.Part {
				parts := newDisplay()
				light = parts[0].(*sim.Backlight)
				return parts
			},
			Safe: map[string]float64{"backlight": 1},
			Skip: map[string]string{"unplug": noSilence},
			Confirm: func(t *testing.T, c drivers.Command, s drivers.Status) {
				if s.Details["backlight"] != drivers.OnOff(light.Brightness() > 0) {
					t.Errorf("%s: told as %v, the light is at %g", c.Action, s.Details, light.Brightness())
				}
			},
		})
	})
	t.Run("o3-sensor/tmp102,apa102", func(t *testing.T) {
		conformHub(t, "tmp102", "apa102", func() sim.Part { return &sim.TMP102{Bus: i2cBus} })
	})
	t.Run("o3-sensor/sht31,ws2812", func(t *testing.T) {
		conformHub(t, "sht31", "ws2812", func() sim.Part { return &sim.SHT31{Bus: i2cBus} })
	})
	t.Run("o3-sensor/mcp9808", func(t *testing.T) {
		conformHub(t, "mcp9808", "apa102", func() sim.Part { return &sim.MCP9808{Bus: i2cBus} })
	})
}

func conformHub(t *testing.T, chip, strip string, thermometer func() sim.Part) {
	drivertest.Run(t, drivertest.Case{
		Kind: parts.Kind(), Rig: newRig, Blocking: true,
		Options: func() drivers.Options {
			o := hubOptions().(*parts.Options)
			o.Chip, o.Strip = chip, strip
			return o
		},
		Parts: func() []sim.Part {
			parts := newHub()
			parts[0] = thermometer()
			if strip == "ws2812" {
				parts[3] = &sim.WS2812{SPI: spiPort, LEDs: 12}
			}
			return parts
		},
		Safe: map[string]float64{"buzzer": 0},
		Silences: []drivertest.Silence{
			{Sub: drivers.SubTemperature, By: "unplug", Back: "plug", Names: chip, Within: 10 * time.Second},
			{Sub: drivers.SubTemperature, By: "garble", Back: "ungarble", Names: chip, Within: 10 * time.Second},
		},
		Skip: map[string]string{
			"silence " + drivers.SubOccupancy: oneChip, "silence " + drivers.SubBuzzer: oneChip,
			"silence " + drivers.SubRing: noCable,
		},
	})
}
