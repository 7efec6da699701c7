package parts

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"periph.io/x/conn/v3/i2c"
	"periph.io/x/conn/v3/i2c/i2ctest"
	"periph.io/x/conn/v3/physic"
	"pgregory.net/rapid"

	"roomgate/drivers/sim"
)

func TestSHT31Celsius(t *testing.T) {
	for raw, want := range map[uint16]string{
		0x0000: "", 0xffff: "", // -45 and 130, beyond what the driver tells
		0x0751: "-40", 0x41d4: "0", 0x6666: "25", 0x9999: "60", 0xf8ae: "125",
	} {
		c, err := sht31Celsius(raw)
		if (err != nil) != (want == "") || err == nil && tenths(c) != want {
			t.Errorf("%#04x is %g, %v, want %q", raw, c, err, want)
		}
	}
	if got := crc8([]byte{0xbe, 0xef}); got != 0x92 { // the data sheet's example
		t.Errorf("checksum %#x", got)
	}
}

// A checksum finds every single bit that is wrong, and every two.
func TestSHT31Checksum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Byte(), 2, 2).Draw(t, "data")
		sum := crc8(data)
		a, b := rapid.IntRange(0, 15).Draw(t, "a"), rapid.IntRange(0, 15).Draw(t, "b")
		data[a/8] ^= 1 << (a % 8)
		if b != a {
			data[b/8] ^= 1 << (b % 8)
		}
		if crc8(data) == sum {
			t.Errorf("bits %d and %d go unseen", a, b)
		}
	})
}

// The rows are of the data sheet's section 5.1.3; the alert bits do not count.
func TestMCPCelsius(t *testing.T) {
	for raw, want := range map[uint16]string{
		0x0194: "25.3", 0xc194: "25.3", 0x0000: "0", 0x1ffe: "-0.1", 0x1e6c: "-25.3",
		0x1d80: "-40", 0x07d0: "125", 0x07f0: "", 0x1ce0: "", 0x0195: "", 0xffff: "",
	} {
		c, err := mcpCelsius(raw)
		if (err != nil) != (want == "") || err == nil && tenths(c) != want {
			t.Errorf("%#04x is %g, %v, want %q", raw, c, err, want)
		}
	}
}

// The transactions of one reading of each chip, byte by byte.
func TestReadingsOnTheWire(t *testing.T) {
	io := func(w []byte, r ...byte) i2ctest.IO { return i2ctest.IO{Addr: 0x44, W: w, R: r} }
	sht := func(d i2c.Dev) chip { return &sht31{d} }
	mcp := func(d i2c.Dev) chip { return &mcp9808{registers{d}} }
	measure := io([]byte{0x24, 0x00})
	wake := []i2ctest.IO{io([]byte{8, 2}), io([]byte{1, 0, 0})}
	for name, c := range map[string]struct {
		open func(i2c.Dev) chip
		ops  []i2ctest.IO
		want string
		err  error
	}{
		"sht31":                       {sht, []i2ctest.IO{measure, io(nil, 0x66, 0x66, 0x93, 0xbe, 0xef, 0x92)}, "25", nil},
		"sht31, bad temperature":      {sht, []i2ctest.IO{measure, io(nil, 0x66, 0x67, 0x93, 0xbe, 0xef, 0x92)}, "", errChecksum},
		"sht31, bad humidity":         {sht, []i2ctest.IO{measure, io(nil, 0x66, 0x66, 0x93, 0xbe, 0xee, 0x92)}, "", errChecksum},
		"sht31, nobody on the bus":    {sht, []i2ctest.IO{measure, io(nil, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)}, "", errChecksum},
		"mcp9808":                     {mcp, append(wake[:2:2], io([]byte{5}, 0xc1, 0x94), io([]byte{6}, 0, 0x54), io([]byte{8}, 2), io([]byte{1, 1, 0})), "25.3", nil},
		"mcp9808, another chip":       {mcp, append(wake[:2:2], io([]byte{5}, 0xc1, 0x94), io([]byte{6}, 0, 0x55), io([]byte{8}, 2)), "", errStrange},
		"mcp9808, lost power between": {mcp, append(wake[:2:2], io([]byte{5}, 0, 0), io([]byte{6}, 0, 0x54), io([]byte{8}, 3)), "", errStrange},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bus := &i2ctest.Playback{Ops: c.ops, DontPanic: true}
				celsius, err := c.open(i2c.Dev{Bus: bus, Addr: 0x44}).celsius(t.Context())
				if !errors.Is(err, c.err) || err == nil && tenths(celsius) != c.want {
					t.Errorf("reads %g, %v", celsius, err)
				}
				if err := bus.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Both chips follow the room, and one that has just lost its power does not
// say 0 °C.
func TestChipsAreFresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sim.NewWorld()
		defer w.Close()
		sht, mcp := &sim.SHT31{Bus: "i2c"}, &sim.MCP9808{Bus: "i2c"}
		for _, p := range []sim.Part{sht, mcp} {
			if err := w.Add("room", "o3-sensor", p); err != nil {
				t.Fatal(err)
			}
		}
		bus, err := w.I2C("i2c")
		if err != nil {
			t.Fatal(err)
		}
		chips := []chip{&sht31{i2c.Dev{Bus: bus, Addr: 0x44}}, &mcp9808{registers{i2c.Dev{Bus: bus, Addr: 0x18}}}}
		for celsius, want := range map[float64]string{21.5: "21.5", -3.99: "-4", 31.44: "31.4", 60: "60"} {
			sht.SetTemperature(celsius)
			mcp.SetTemperature(celsius)
			mcp.PowerCycle()
			for _, c := range chips {
				if got, err := c.celsius(t.Context()); err != nil || tenths(got) != want {
					t.Errorf("%T says %s, %v at %g °C", c, tenths(got), err, celsius)
				}
			}
		}
	})
}

func TestWS2812Frame(t *testing.T) {
	colors := []rgb{{0x80, 0x01, 0xff}, {1, 2, 3}}
	w := ws2812Frame(colors)
	quiet := (len(w) - 12*len(colors)) / 2
	if d := time.Duration(quiet) * 8 * ws2812Speed.Period(); d < 280*time.Microsecond {
		t.Errorf("quiet for %v", d)
	}
	want := []byte{0x88, 0x88, 0x88, 0x8e, 0xe8, 0x88, 0x88, 0x88, 0xee, 0xee, 0xee, 0xee} // g, r, b
	if got := w[quiet : quiet+12]; string(got) != string(want) {
		t.Errorf("% x, want % x", got, want)
	}
	// spidev takes 4096 bytes at once; a second transfer would be a reset.
	if n := len(ws2812Frame(make([]rgb, 256))); n > 4096 {
		t.Errorf("%d bytes for the longest ring", n)
	}
}

// The same colors arrive, also on a board whose clock is a little off.
func TestWS2812OnTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := sim.NewWorld()
		defer w.Close()
		leds := rapid.IntRange(1, 64).Draw(t, "leds")
		strip := &sim.WS2812{SPI: "ring", LEDs: leds}
		if err := w.Add("room", "o3-sensor", strip); err != nil {
			t.Fatal(err)
		}
		clock := physic.Frequency(rapid.Int64Range(3160, 3330).Draw(t, "kHz")) * physic.KiloHertz
		port, err := w.SPI("ring", clock, 0)
		if err != nil {
			t.Fatal(err)
		}
		colors := make([]rgb, leds)
		for i := range colors {
			c := rapid.Uint32().Draw(t, "color")
			colors[i] = rgb{byte(c), byte(c >> 8), byte(c >> 16)}
		}
		if err := port.Tx(ws2812Frame(colors), nil); err != nil {
			t.Fatal(err)
		}
		for i, p := range strip.Pixels() {
			if (rgb{p.R, p.G, p.B}) != colors[i] {
				t.Fatalf("led %d shows %+v, want %v", i, p, colors[i])
			}
		}
	})
}
