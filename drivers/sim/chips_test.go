package sim

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"periph.io/x/conn/v3/physic"
)

func TestSHT31(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		chip := &SHT31{Bus: "i2c-1"}
		bus, err := world(t, chip).I2C("i2c-1")
		if err != nil {
			t.Fatal(err)
		}
		chip.SetTemperature(25)
		try := func(w []byte, n int) ([]byte, error) {
			r := make([]byte, n)
			return r, bus.Tx(0x44, w, r)
		}
		expect := func(what string, w []byte, want ...byte) {
			t.Helper()
			if got, err := try(w, len(want)); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: % x, %v, want % x", what, got, err, want)
			}
		}
		refused := func(what string, w []byte, n int) {
			t.Helper()
			if got, err := try(w, n); err == nil {
				t.Errorf("%s: % x, want no acknowledge", what, got)
			}
		}
		refused("nothing to say", nil, 6)
		expect("start", []byte{0x24, 0x00})
		time.Sleep(12 * time.Millisecond)
		refused("still measuring", nil, 6)
		refused("a command while measuring", []byte{0x24, 0x00}, 0)
		time.Sleep(time.Millisecond)
		expect("25 °C at 45 %", nil, 0x66, 0x66, 0x93, 0x73, 0x33, checksum([]byte{0x73, 0x33}))
		refused("the same once more", nil, 6)
		expect("status after power-up", []byte{0xf3, 0x2d}, 0x00, 0x10, checksum([]byte{0, 0x10}))
		expect("clear", []byte{0x30, 0x41})
		expect("an unknown command", []byte{0x12, 0x34})
		expect("status", []byte{0xf3, 0x2d}, 0x00, 0x00, 0x81)
	})
	if got := checksum([]byte{0xbe, 0xef}); got != 0x92 {
		t.Errorf("the data sheet's example gives %#x", got)
	}
}

func TestMCP9808(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		chip := &MCP9808{Bus: "i2c-1"}
		bus, err := world(t, chip).I2C("i2c-1")
		if err != nil {
			t.Fatal(err)
		}
		expect := func(what string, w []byte, want ...byte) {
			t.Helper()
			r := make([]byte, len(want))
			if err := bus.Tx(0x18, w, r); err != nil || !bytes.Equal(r, want) {
				t.Errorf("%s: % x, %v, want % x", what, r, err, want)
			}
		}
		expect("maker", []byte{6}, 0x00, 0x54)
		expect("device", []byte{7}, 0x04, 0x00)
		expect("resolution", []byte{8}, 0x03)
		chip.SetTemperature(25.3125)
		time.Sleep(249 * time.Millisecond)
		expect("before the first conversion", []byte{5}, 0x80, 0x00) // 0 °C, at the critical limit of 0
		time.Sleep(time.Millisecond)
		expect("25.3125 °C", []byte{5}, 0xc1, 0x95)
		expect("coarser", []byte{8, 1})
		expect("25.25 °C", []byte{5}, 0xc1, 0x94)
		chip.SetTemperature(-0.25)
		time.Sleep(65 * time.Millisecond)
		expect("below the lower limit", []byte{5}, 0x3f, 0xfc)
		expect("shut down", []byte{1, 1, 0})
		chip.SetTemperature(80)
		time.Sleep(time.Second)
		expect("kept while shut down", []byte{5}, 0x3f, 0xfc)
		expect("wake", []byte{1, 0, 0})
		time.Sleep(65 * time.Millisecond)
		expect("80 °C", []byte{5}, 0xc5, 0x00)
		expect("limits", []byte{2, 0x05, 0xff})
		expect("what a limit keeps", []byte{2}, 0x05, 0xfc)
	})
}

// wave is a waveform on the wire, each tick 0.1 µs.
func wave(leds ...uint32) []byte {
	var levels []byte
	add := func(level byte, ticks int) { levels = append(levels, bytes.Repeat([]byte{level}, ticks)...) }
	for _, led := range leds {
		for bit := 23; bit >= 0; bit-- {
			high := 4
			if led>>bit&1 != 0 {
				high = 8
			}
			add(1, high)
			add(0, 12-high)
		}
	}
	add(0, 2800)
	packed := make([]byte, (len(levels)+7)/8)
	for i, level := range levels {
		packed[i/8] |= level << (7 - i%8)
	}
	return packed
}

func TestWS2812(t *testing.T) {
	const grb = 0x204060
	lit, off := Pixel{G: 0x20, R: 0x40, B: 0x60, Brightness: 31}, Pixel{}
	cut := func(w []byte, n int) []byte { return w[:n] }
	for name, c := range map[string]struct {
		sent  []byte
		clock physic.Frequency
		want  [2]Pixel
	}{
		"both":             {wave(grb, grb), 10 * physic.MegaHertz, [2]Pixel{lit, lit}},
		"one":              {wave(grb), 10 * physic.MegaHertz, [2]Pixel{lit, off}},
		"one too many":     {wave(grb, grb, 0xffffff), 10 * physic.MegaHertz, [2]Pixel{lit, lit}},
		"not shown":        {cut(wave(grb), 36+300), 10 * physic.MegaHertz, [2]Pixel{off, off}},
		"half a led":       {append(cut(wave(grb, grb), 54), make([]byte, 350)...), 10 * physic.MegaHertz, [2]Pixel{lit, off}},
		"too fast":         {wave(grb, grb), 20 * physic.MegaHertz, [2]Pixel{off, off}},
		"too slow":         {wave(grb, grb), 5 * physic.MegaHertz, [2]Pixel{off, off}},
		"quiet beforehand": {append(make([]byte, 400), wave(grb, grb)...), 10 * physic.MegaHertz, [2]Pixel{lit, lit}},
		"disturbed":        {append(bytes.Repeat([]byte{0x55}, 90), make([]byte, 400)...), 10 * physic.MegaHertz, [2]Pixel{off, off}},
	} {
		t.Run(name, func(t *testing.T) {
			strip := &WS2812{SPI: "spi0.0", LEDs: 2}
			port, err := world(t, strip).SPI("spi0.0", c.clock, 0)
			if err != nil {
				t.Fatal(err)
			}
			if err := port.Tx(c.sent, nil); err != nil {
				t.Fatal(err)
			}
			if got := [2]Pixel(strip.Pixels()); got != c.want {
				t.Errorf("shows %v, want %v", got, c.want)
			}
		})
	}
}
