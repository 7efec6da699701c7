package sim

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"periph.io/x/conn/v3/i2c"
)

// thermometer is a chip that has made its first conversion.
func thermometer(t *testing.T) (*TMP102, i2c.Bus) {
	t.Helper()
	chip := &TMP102{Bus: "i2c-1"}
	bus, err := world(t, chip).I2C("i2c-1")
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(conversion)
	return chip, bus
}

// tx is one transaction with the chip.
func tx(t *testing.T, bus i2c.Bus, w []byte, n int) []byte {
	t.Helper()
	r := make([]byte, n)
	if err := bus.Tx(0x48, w, r); err != nil {
		t.Fatal(err)
	}
	return r
}

// The tables of the datasheet, "Digital Output of Temperature", as the two
// bytes on the wire.
func TestTMP102Temperature(t *testing.T) {
	tests := []struct {
		name     string
		celsius  float64
		normal   []byte
		extended []byte
	}{
		{"highest", 150, []byte{0x7F, 0xF0}, []byte{0x4B, 0x01}},
		{"128", 128, []byte{0x7F, 0xF0}, []byte{0x40, 0x01}},
		{"127.9375", 127.9375, []byte{0x7F, 0xF0}, []byte{0x3F, 0xF9}},
		{"100", 100, []byte{0x64, 0x00}, []byte{0x32, 0x01}},
		{"80", 80, []byte{0x50, 0x00}, []byte{0x28, 0x01}},
		{"75", 75, []byte{0x4B, 0x00}, []byte{0x25, 0x81}},
		{"50", 50, []byte{0x32, 0x00}, []byte{0x19, 0x01}},
		{"25", 25, []byte{0x19, 0x00}, []byte{0x0C, 0x81}},
		{"a quarter", 0.25, []byte{0x00, 0x40}, []byte{0x00, 0x21}},
		{"0", 0, []byte{0x00, 0x00}, []byte{0x00, 0x01}},
		{"minus a quarter", -0.25, []byte{0xFF, 0xC0}, []byte{0xFF, 0xE1}},
		{"-25", -25, []byte{0xE7, 0x00}, []byte{0xF3, 0x81}},
		{"-55", -55, []byte{0xC9, 0x00}, []byte{0xE4, 0x81}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				chip, bus := thermometer(t)
				chip.SetTemperature(tt.celsius)
				time.Sleep(time.Second)
				if got := tx(t, bus, []byte{0x00}, 2); !bytes.Equal(got, tt.normal) {
					t.Errorf("12 bits: % x, want % x", got, tt.normal)
				}
				tx(t, bus, []byte{0x01, 0x60, 0xB0}, 0) // EM
				time.Sleep(time.Second)
				if got := tx(t, bus, []byte{0x00}, 2); !bytes.Equal(got, tt.extended) {
					t.Errorf("13 bits: % x, want % x", got, tt.extended)
				}
			})
		})
	}
}

func TestTMP102PowerUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		chip := &TMP102{Bus: "i2c-1", Address: 0x48}
		bus, err := world(t, chip).I2C("i2c-1")
		if err != nil {
			t.Fatal(err)
		}
		if got := tx(t, bus, nil, 2); !bytes.Equal(got, []byte{0, 0}) {
			t.Errorf("before the first conversion: % x, want 0 °C", got)
		}
		for reg, want := range map[byte][]byte{1: {0x60, 0xA0}, 2: {0x4B, 0x00}, 3: {0x50, 0x00}} {
			if got := tx(t, bus, []byte{reg}, 2); !bytes.Equal(got, want) {
				t.Errorf("register %d: % x, want % x", reg, got, want)
			}
		}
		time.Sleep(conversion)
		if got := tx(t, bus, []byte{0}, 4); !bytes.Equal(got, []byte{0x15, 0x80, 0xFF, 0xFF}) {
			t.Errorf("after the first conversion: % x, want 21.5 °C and an idle bus", got)
		}
	})
}

func TestTMP102Registers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, bus := thermometer(t)
		tests := []struct {
			name        string
			write, read []byte
		}{
			{"temperature cannot be written", []byte{0x00, 0x12, 0x34}, []byte{0x15, 0x80}},
			{"limits can", []byte{0x02, 0x0A, 0x00}, []byte{0x0A, 0x00}},
			{"the high byte alone", []byte{0x03, 0x20}, []byte{0x20, 0x00}},
			{"resolution and alert are read only", []byte{0x01, 0x00, 0x80}, []byte{0x60, 0xA0}},
			{"the upper pointer bits do not count", []byte{0xFD, 0x62, 0xE0}, []byte{0x62, 0xE0}},
			{"polarity turns the alert bit over", []byte{0x01, 0x64, 0xA0}, []byte{0x64, 0x80}},
		}
		for _, tt := range tests {
			tx(t, bus, tt.write, 0)
			if got := tx(t, bus, nil, 2); !bytes.Equal(got, tt.read) {
				t.Errorf("%s: % x, want % x", tt.name, got, tt.read)
			}
		}
	})
}

func TestTMP102Rates(t *testing.T) {
	tests := map[byte]time.Duration{
		0x20: 4 * time.Second, 0x60: time.Second, 0xA0: 250 * time.Millisecond, 0xE0: 125 * time.Millisecond,
	}
	for low, period := range tests {
		synctest.Test(t, func(t *testing.T) {
			chip, bus := thermometer(t)
			tx(t, bus, []byte{0x01, 0x60, low}, 0)
			time.Sleep(8*time.Second - conversion + 30*time.Millisecond) // just after a conversion of each rate
			tx(t, bus, []byte{0}, 2)
			chip.SetTemperature(30)
			time.Sleep(period - 10*time.Millisecond)
			if got := tx(t, bus, nil, 2); got[0] != 0x15 {
				t.Errorf("%#x: the next conversion comes before %s", low, period)
			}
			time.Sleep(20 * time.Millisecond)
			if got := tx(t, bus, nil, 2); got[0] != 0x1E {
				t.Errorf("%#x: no conversion after %s", low, period)
			}
		})
	}
}

func TestTMP102Shutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		chip, bus := thermometer(t)
		tx(t, bus, []byte{0x01, 0x61, 0xA0}, 0)
		chip.SetTemperature(30)
		time.Sleep(time.Minute)
		if got := tx(t, bus, []byte{0}, 2); got[0] != 0x15 {
			t.Errorf("converts while shut down: % x", got)
		}
		tx(t, bus, []byte{0x01, 0xE1, 0xA0}, 0) // one-shot
		if got := tx(t, bus, nil, 2); got[0] != 0x61 {
			t.Errorf("configuration while converting: % x, want OS 0", got)
		}
		time.Sleep(conversion)
		if got := tx(t, bus, nil, 2); got[0] != 0xE1 {
			t.Errorf("configuration after converting: % x, want OS 1", got)
		}
		if got := tx(t, bus, []byte{0}, 2); got[0] != 0x1E {
			t.Errorf("after a one-shot: % x, want 30 °C", got)
		}
		chip.SetTemperature(40)
		tx(t, bus, []byte{0x01, 0x60, 0xA0}, 0) // wakes
		time.Sleep(conversion)
		if got := tx(t, bus, []byte{0}, 2); got[0] != 0x28 {
			t.Errorf("after waking: % x, want 40 °C", got)
		}
	})
}

func TestTMP102Alert(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		chip, bus := thermometer(t)
		for _, step := range []struct {
			celsius float64
			alert   byte // the AL bit, active low with POL 0
		}{{79, 0x20}, {80, 0}, {76, 0}, {74, 0x20}} {
			chip.SetTemperature(step.celsius)
			time.Sleep(time.Second)
			if got := tx(t, bus, []byte{1}, 2); got[1]&0x20 != step.alert {
				t.Errorf("at %g °C AL is %#x, want %#x", step.celsius, got[1]&0x20, step.alert)
			}
		}
	})
}

func TestTMP102Address(t *testing.T) {
	w := world(t, &TMP102{Bus: "b", Address: 0x49})
	for _, bad := range []*TMP102{{Bus: "b", Address: 0x49}, {Bus: "b", Address: 0x50}, {Address: 0x48}} {
		if err := w.Add("a", "d", bad); err == nil {
			t.Errorf("a chip at %q %#x was added", bad.Bus, bad.Address)
		}
	}
}
