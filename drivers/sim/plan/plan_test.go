package plan

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"periph.io/x/conn/v3/physic"

	"roomgate/drivers"
	"roomgate/drivers/sim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const twoRooms = `
spaces:
  - {id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01, name: Aurora}
parts:
  - {space: aurora, device: lock, part: door, relay: a.relay, sense: a.sense, contact: a.contact, travel: 100ms}
  - {space: aurora, device: light, part: lamp, pwm: a.light}
  - {space: aurora, device: fan, part: fan, pwm: a.fan, tach: a.tach, speed: 1800}
  - {space: aurora, device: o3-sensor, part: o3, address: "o3.aurora:1883", username: user, password: x}
  - {space: aurora, device: camera, part: camera, address: "camera.aurora:80", auth: digest, username: user, password: x}
  - {space: borealis, device: o3-sensor, part: tmp102, i2c: i2c-1, address: 0x49}
  - {space: borealis, device: o3-sensor, part: pir, line: b.pir}
  - {space: borealis, device: o3-sensor, part: buzzer, line: b.buzzer}
  - {space: borealis, device: o3-sensor, part: apa102, spi: spi0.0, leds: 12}
  - {space: borealis, device: meeting-room-display, part: tablet, page: borealis}
  - space: borealis
    device: meeting-room-display
    part: backlight
    line: b.backlight
`

func TestParse(t *testing.T) { synctest.Test(t, testParse) }

func testParse(t *testing.T) {
	w, err := Parse([]byte(twoRooms))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, order := range []string{
		"7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01 lock force", "Aurora light unplug", "aurora fan stall",
		"aurora camera garble", "aurora temperature 12", "aurora occupancy occupied",
		"borealis temperature 12", "borealis occupancy vacant", "borealis buzzer plug", "borealis ring-light stick",
		"borealis meeting-room-display garble",
	} {
		args := strings.Fields(order)
		if _, err := w.Control(args[0], args[1], args[2:]...); err != nil {
			t.Errorf("%s: %v", order, err)
		}
	}
	boltTravels(t, w, 100*time.Millisecond)
	if bus, err := w.I2C("i2c-1"); err != nil || bus.Tx(0x49, []byte{1}, make([]byte, 2)) != nil {
		t.Errorf("the chip is not at its address: %v", err)
	}
	if _, err := w.PWM("a.fan", 25*physic.KiloHertz); err != nil {
		t.Error(err)
	}
}

// boltTravels wants the bolt to be on its way for as long as the file says.
func boltTravels(t *testing.T, w *sim.World, want time.Duration) {
	t.Helper()
	sense, err := w.Input("a.sense", drivers.PullUp)
	if err != nil {
		t.Fatal(err)
	}
	relay, err := w.Output("a.relay", true)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = errors.Join(relay.Close(), sense.Close()) }()
	for _, step := range []struct {
		after time.Duration
		drawn bool
	}{{want - time.Millisecond, false}, {time.Millisecond, true}} {
		time.Sleep(step.after)
		if high, err := sense.Read(); err != nil || high != step.drawn {
			t.Errorf("the bolt switch is %v, %v, want %v", high, err, step.drawn)
		}
	}
}

func TestParseNamesTheMistake(t *testing.T) {
	tests := []struct {
		name, file, want string
	}{
		{"unknown key", "part:\n- {}", "part"},
		{"unknown part", "parts:\n- {space: a, device: lock, part: dor}", `line 2: part "dor" is not known: want one of apa102`},
		{"unknown key of a part", "parts:\n- {space: a, device: lock, part: door, relais: x}", "relais"},
		{"no space", "parts:\n- {device: lock, part: door, relay: x}", "line 2: space and device"},
		{"no line", "parts:\n- {space: a, device: lock, part: door}", "has no name"},
		{"a line twice", "parts:\n- {space: a, device: light, part: lamp, pwm: x}\n- {space: b, device: light, part: lamp, pwm: x}", "line 3"},
		{"out of range", "parts:\n- {space: a, device: o3-sensor, part: apa102, spi: x, leds: 100000}", "1 to 1024"},
		{"a fan that hardly turns", "parts:\n- {space: a, device: fan, part: fan, pwm: x, speed: .nan}", "60 to 30000"},
		{"bad address", "parts:\n- {space: a, device: o3-sensor, part: tmp102, i2c: x, address: 3}", "0x48 to 0x4b"},
		{"not a mapping", "parts:\n- door", "must be a mapping"},
		{"no YAML", "parts: [", "simulated world"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, err := Parse([]byte(tt.file))
			if err == nil {
				w.Close()
				t.Fatal("accepted")
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %q does not say %q", err, tt.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(twoRooms))
	f.Add([]byte("parts: [{space: a, device: b, part: door, relay: &x y, sense: *x}]"))
	f.Add([]byte("parts:\n- <<: {space: a}\n  device: b"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if w, err := Parse(data); err == nil {
			w.Close()
		}
	})
}
